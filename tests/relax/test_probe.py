from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch
from torch_geometric.utils import degree

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.relax import RelaxedModel, probe
from gnninterpreter.relax.dense import KERNELS
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.testing import TinyClassifier
from tests.relax.cases import CASES, Case
from tests.relax.refusals import REFUSALS, Refusal

SPEC = GraphSpec((Categorical(3),))


def relaxed(model: nn.Module, spec: GraphSpec = SPEC, **options: object) -> RelaxedModel:
    return RelaxedModel(GraphClassifier(model.eval(), spec), **options)


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_what_cannot_be_relaxed_is_caught_and_named(refusal: Refusal) -> None:
    case = refusal.case
    with warnings.catch_warnings():
        # PyG's own code warns about sparse tensors where it pools edges.
        warnings.simplefilter("ignore", UserWarning)
        report = probe(relaxed(case.model(), case.spec()))
    assert not report.passed
    assert report.module == refusal.module
    assert refusal.named in report.reason


@pytest.mark.parametrize("case", CASES[::6], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_what_can_be_relaxed_passes(case: Case, dtype: torch.dtype) -> None:
    report = probe(relaxed(case.model(dtype), case.spec()))
    assert report.passed, report.reason
    assert report.reason == report.module == ""
    limit = {torch.float32: 1e-5, torch.float64: 1e-12}[dtype]
    assert 0 <= report.logits_error < limit
    assert 0 <= report.embedding_error < limit


def test_the_blame_goes_to_the_first_layer_that_differs() -> None:
    model = TinyClassifier([gnn.GCNConv(3, 4), gnn.MFConv(4, 4), gnn.GCNConv(4, 4)], 4)
    assert probe(relaxed(model)).module == "convs.1"


def test_a_relation_layer_is_not_blamed_for_what_follows() -> None:
    spec = GraphSpec((Categorical(3),), (Categorical(2, encoding="index"),))
    model = TinyClassifier(gnn.RGCNConv(3, 4, 2), 4, edge="edge_type", pool=gnn.MedianAggregation())
    assert probe(relaxed(model, spec)).module == "pool"


def test_a_broken_kernel_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TinyClassifier(gnn.SAGEConv(3, 4), 4)
    assert probe(relaxed(model)).passed
    monkeypatch.setitem(KERNELS, gnn.SAGEConv, lambda layer, candidates, x: layer.lin_l(x))
    assert not probe(relaxed(model)).passed
    assert probe(relaxed(model, dense=False)).passed


class CutsTheGraph(nn.Module):
    """Right on every discrete graph, yet without a gradient in the edges."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = gnn.GCNConv(3, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, data: Batch) -> Tensor:
        x = self.conv(data.x, data.edge_index).detach()
        return self.head(gnn.global_mean_pool(x, data.batch).detach())


def test_output_without_gradient_is_caught() -> None:
    report = probe(relaxed(CutsTheGraph()))
    assert not report.passed
    assert report.logits_error < 1e-5
    assert "does not depend differentiably on the graph" in report.reason


class CountsQuietly(nn.Module):
    """Looks at the degrees without a gradient before it uses the edges with one."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = gnn.LEConv(3, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, data: Batch) -> Tensor:
        with torch.no_grad():
            count = degree(data.edge_index[1], data.x.size(0), data.x.dtype)
        x = self.conv(data.x, data.edge_index) / (1 + count.view(-1, 1))
        return self.head(gnn.global_mean_pool(x, data.batch))


@pytest.mark.parametrize("dense", [False, True], ids=["generic", "dense"])
def test_a_look_without_gradient_leaves_the_others_theirs(dense: bool) -> None:
    assert probe(relaxed(CountsQuietly(), dense=dense)).passed


class ReadsCodesByHand(nn.Module):
    """Looks categories up by indexing, which no operation can make soft."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(3, 4))
        self.conv = gnn.GCNConv(4, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, data: Batch) -> Tensor:
        x = self.conv(self.table[data.x.view(-1)], data.edge_index)
        return self.head(gnn.global_mean_pool(x.tanh(), data.batch))


def test_categories_without_gradient_are_caught_and_named() -> None:
    spec = GraphSpec((Categorical(3, name="atom", encoding="index"),))
    report = probe(relaxed(ReadsCodesByHand(), spec))
    assert not report.passed
    assert report.reason == "it reads 'atom' of the nodes in a way that has no gradient"


class IgnoresFeatures(ReadsCodesByHand):
    def forward(self, data: Batch) -> Tensor:
        x = self.conv(self.table[0].expand(data.x.size(0), -1), data.edge_index)
        return self.head(gnn.global_add_pool(x.tanh(), data.batch))


def test_features_that_do_not_matter_need_no_gradient() -> None:
    spec = GraphSpec((Categorical(3, encoding="index"),))
    assert probe(relaxed(IgnoresFeatures(), spec)).passed


class Explodes(CutsTheGraph):
    """Fine in value, but with a slope that is not a number wherever two nodes are alike."""

    def forward(self, data: Batch) -> Tensor:
        x = self.conv(data.x, data.edge_index)
        x = x + 0 * (x - x).abs().sqrt()
        return self.head(gnn.global_mean_pool(x, data.batch))


def test_a_gradient_that_is_not_finite_is_caught() -> None:
    report = probe(relaxed(Explodes()))
    assert not report.passed
    assert report.reason == "its gradient is not finite"


def test_the_probe_is_reproducible_and_its_seed_counts() -> None:
    model = relaxed(TinyClassifier(gnn.MFConv(3, 4), 4))
    first, again, other = probe(model), probe(model), probe(model, seed=7)
    assert first == again
    assert first.logits_error != other.logits_error
