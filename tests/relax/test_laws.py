"""The three laws, on every model of the table."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck
from torch_geometric import nn as gnn
from torch_geometric.data import Batch

from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.spec import Categorical, Derived, GraphSpec
from gnninterpreter.testing import (
    TinyClassifier,
    assert_absent_means_absent,
    assert_discrete_consistency,
    discrete_error,
    random_soft_graphs,
)
from tests.relax.cases import CASES, CONVOLUTIONS, Case
from tests.relax.refusals import REFUSALS, Refusal

SIZES = (2, 7)

every_case = pytest.mark.parametrize("case", CASES, ids=str)


@cache
def classifier(case: Case, dtype: torch.dtype, directed: bool = False) -> GraphClassifier:
    return GraphClassifier(case.model(dtype), case.spec(directed))


@every_case
def test_discrete_consistency_in_float32(case: Case) -> None:
    model = classifier(case, torch.float32)
    assert_discrete_consistency(model, case.spec(), limit=1e-4, sizes=(9,), count=4)


@every_case
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_discrete_consistency_in_float64(case: Case, directed: bool) -> None:
    model = classifier(case, torch.float64, directed)
    assert_discrete_consistency(model, case.spec(directed), limit=1e-9, sizes=SIZES, count=4)


@every_case
def test_absent_means_absent(case: Case) -> None:
    assert_absent_means_absent(classifier(case, torch.float64), case.spec(), limit=1e-9)


ROWS_OF_ZEROS = [
    GraphSpec((Categorical(4, encoding="dummy"),), (Categorical(3, encoding="dummy"),)),
    GraphSpec((Categorical(3, encoding="dummy"), Derived("degree")), (Categorical(2),)),
]


@pytest.mark.parametrize("spec", ROWS_OF_ZEROS, ids=["nodes and edges", "beside degrees"])
@pytest.mark.parametrize("layer", [gnn.GINEConv, gnn.GATv2Conv, gnn.NNConv])
def test_categories_without_a_column(layer: type[nn.Module], spec: GraphSpec) -> None:
    given = {
        gnn.GINEConv: lambda: gnn.GINEConv(nn.Linear(3, 4), edge_dim=2),
        gnn.GATv2Conv: lambda: gnn.GATv2Conv(3, 4, edge_dim=2),
        gnn.NNConv: lambda: gnn.NNConv(3, 4, nn.Linear(2, 12)),
    }
    model = TinyClassifier(given[layer](), 4, edge="edge_attr").double()
    assert_discrete_consistency(model, spec, limit=1e-9, sizes=SIZES, count=4)
    assert_absent_means_absent(model, spec, limit=1e-9)


BROKEN = [r for r in REFUSALS if not r.named.startswith(("it reads", "(NoCompleteGraphs)"))]


@pytest.mark.parametrize("refusal", BROKEN, ids=str)
def test_the_checks_can_fail(refusal: Refusal) -> None:
    case = refusal.case
    with pytest.raises(AssertionError, match="path is off by"):
        assert_discrete_consistency(case.model(), case.spec(), sizes=(7,), count=12)


def test_the_third_law_can_fail() -> None:
    model = TinyClassifier(gnn.GCNConv(3, 4), 4, pool=gnn.SortAggregation(3), pooled=12).double()
    with pytest.raises(AssertionError, match="features of absent nodes or edges change the output"):
        assert_absent_means_absent(model, GraphSpec((Categorical(3),)))


def test_both_outputs_are_compared() -> None:
    """A model whose logits agree while its embedding does not is caught as well."""

    class Deaf(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.body = gnn.GraphConv(3, 4), nn.Linear(4, 4)

        def forward(self, data: Batch) -> Tensor:
            x = self.conv(data.x, data.edge_index)
            ones = torch.ones(data.num_graphs, 2, dtype=x.dtype)
            count = torch.stack([(data.batch == b).sum() for b in range(data.num_graphs)])
            return (
                ones + 0 * self.body(gnn.global_add_pool(x, data.batch) + count.view(-1, 1))[:, :2]
            )

    assert discrete_error(Deaf().double(), GraphSpec((Categorical(3),))) > 0.5


GRADIENTS = [
    case
    for case in CASES
    if str(case)
    in {
        "GCNConv",
        "GraphConv(max)",
        "SAGEConv(mean)",
        "GINConv",
        "GINEConv with features",
        "GATConv with features",
        "GATv2Conv with features",
        "TransformerConv with features",
        "NNConv(one linear) with features",
        "NNConv(deep) with features",
        "TAGConv with weight",
        "ChebConv(rw)",
        "ResGatedGraphConv with features",
        "GeneralConv(attention)",
        "PNAConv with features",
        "RGCNConv(mean) with type",
        "FastRGCNConv(blocks, mean) with type",
        "GCN(jk=lstm)",
        "SoftmaxAggregation",
        "AttentionalAggregation",
        "Set2Set",
        "StdAggregation",
        "GraphNorm",
        "InstanceNorm",
        "PairNorm",
        "Embeddings of several node categories",
        "Embedding of an edge category with type",
        "one_hot of an edge category with type",
        "torch scatters, bincount, index_add",
        "MessagePassing with degree and softmax",
    }
]


def test_every_gradient_case_was_found() -> None:
    assert len(GRADIENTS) == 30


@pytest.mark.parametrize("case", GRADIENTS, ids=str)
@pytest.mark.parametrize("dense", [False, True], ids=["generic", "dense"])
def test_gradients_are_those_of_finite_differences(case: Case, dense: bool) -> None:
    relaxed = RelaxedModel(classifier(case, torch.float64, True), dense)
    spec = case.spec(directed=True)
    generator = torch.Generator().manual_seed(3)
    graphs = random_soft_graphs(spec, 2, 4, generator, dtype=torch.float64)
    off_diagonal = 1 - torch.eye(4, dtype=torch.float64)

    def run(weight: Tensor, nodes: Tensor, edges: Tensor | None = None) -> tuple[Tensor, Tensor]:
        scores = relaxed(DenseGraphs(spec, weight * off_diagonal, nodes, edges))
        return scores.logits, scores.embedding

    parts = [part for part in (graphs.weight, graphs.nodes, graphs.edges) if part is not None]
    inputs = tuple(part.requires_grad_() for part in parts)
    with relaxed.session():
        assert gradcheck(run, inputs, eps=1e-6, atol=1e-5, fast_mode=True)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_reach_weights_and_features_and_are_finite_where_nodes_are_absent(
    case: Case,
) -> None:
    """Samples get to be exactly 0 and 1 in floating point; the slope there must be a number."""
    relaxed = RelaxedModel(classifier(case, torch.float32))
    graphs = random_graphs(case.spec(), 4, 7, torch.Generator().manual_seed(0), absent=3)
    parts = [part for part in (graphs.weight, graphs.nodes, graphs.edges) if part is not None]
    leaves = [part.clone().requires_grad_() for part in parts]
    scores = relaxed(DenseGraphs(graphs.spec, *leaves))
    total = scores.logits.square().sum() + scores.embedding.square().sum()
    for gradient in torch.autograd.grad(total, leaves):
        assert torch.isfinite(gradient).all()
        assert gradient.any()


@pytest.mark.parametrize(
    "case", [case for case in CONVOLUTIONS if "no self-loops" in str(case)], ids=str
)
@pytest.mark.parametrize("dense", [False, True], ids=["generic", "dense"])
def test_gradients_are_finite_where_a_node_is_all_but_absent(case: Case, dense: bool) -> None:
    relaxed = RelaxedModel(classifier(case, torch.float32), dense)
    graphs = random_graphs(case.spec(), 4, 7, torch.Generator().manual_seed(0), absent=3)
    faint = torch.full_like(graphs.weight, 1e-30) * (1 - torch.eye(7))
    weight = torch.where(graphs.weight > 0, graphs.weight, faint).requires_grad_()
    scores = relaxed(DenseGraphs(graphs.spec, weight, graphs.nodes))
    (gradient,) = torch.autograd.grad(scores.logits.square().sum(), [weight])
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("size", [2, 3, 4, 15], ids=lambda n: f"{n} candidates")
def test_every_number_of_candidates(size: int) -> None:
    model = TinyClassifier([gnn.GATConv(3, 4), gnn.TAGConv(4, 4)], 4).double()
    assert_discrete_consistency(model, GraphSpec((Categorical(3),)), sizes=(size,), count=10)


def test_graphs_that_influence_each_other_are_relaxed_one_by_one() -> None:
    """The spectrum of an unnormalised Chebyshev layer is bounded over the whole batch."""
    model = TinyClassifier(gnn.ChebConv(3, 4, K=3, normalization=None), 4).double()
    spec = GraphSpec((Categorical(3),))
    tried = GraphClassifier(model, spec)
    assert not tried.batched
    assert discrete_error(tried, spec) < 1e-9
