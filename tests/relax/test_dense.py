"""The fast path: equal to the generic one on soft graphs, and taken where it should be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.relax.dense import KERNELS, REQUIRED
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.testing import (
    TinyClassifier,
    assert_discrete_consistency,
    path_error,
    random_soft_graphs,
)
from tests.relax.cases import CASES, Case, from_sources
from tests.relax.networks import HIDDEN, IN, RELATIONS

SPEC = GraphSpec((Categorical(3),))
EDGE_SPEC = GraphSpec((Categorical(3),), (Categorical(2),))


class Spy:
    """Counts the calls of a kernel that it did not decline."""

    def __init__(self, kernel: Callable[..., Tensor | None]) -> None:
        self.kernel, self.calls = kernel, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor | None:
        result = self.kernel(*args, **kwargs)
        self.calls += result is not None
        return result


@pytest.fixture
def spies(monkeypatch: pytest.MonkeyPatch) -> dict[type, Spy]:
    found = {}
    for table in (KERNELS, REQUIRED):
        for layer, kernel in list(table.items()):
            found[layer] = Spy(kernel)
            monkeypatch.setitem(table, layer, found[layer])
    return found


def run(model: nn.Module, spec: GraphSpec = SPEC, dense: bool = True) -> None:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        RelaxedModel(GraphClassifier(model, spec), dense)(random_soft_graphs(spec, 2, 4, generator))


@pytest.mark.parametrize("case", [case for case in CASES if case.fast], ids=str)
def test_both_paths_agree_on_soft_graphs_in_value_and_gradient(case: Case) -> None:
    assert path_error(case.model(), case.spec(directed=True)) < 1e-9


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_fast_path_is_taken_where_the_table_says_so(case: Case, spies: dict[type, Spy]) -> None:
    run(case.model(torch.float32), case.spec())
    assert (sum(spy.calls for spy in spies.values()) > 0) == case.fast


def test_no_kernel_but_the_required_runs_on_the_generic_path(spies: dict[type, Spy]) -> None:
    run(TinyClassifier(gnn.GCNConv(3, 4), 4), dense=False)
    assert spies[gnn.GCNConv].calls == 0
    spec = GraphSpec((Categorical(3),), (Categorical(2, encoding="index"),))
    run(TinyClassifier(gnn.RGCNConv(3, 4, 2), 4, edge="edge_type"), spec, dense=False)
    assert spies[gnn.RGCNConv].calls == 1


def _forgets_loops(layer: Any, candidates: Any, x: Tensor) -> Tensor:
    return torch.bmm(candidates.adjacency(), candidates.per_graph(layer.lin(x))).flatten(0, 1)


def _ignores_weights(layer: Any, candidates: Any, x: Tensor) -> Tensor:
    return layer.lin(x) + from_sources(candidates, layer.lin(x)).sum(2).flatten(0, 1)


@pytest.mark.parametrize("kernel", [_forgets_loops, _ignores_weights])
def test_a_broken_kernel_is_caught(
    kernel: Callable[..., Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = TinyClassifier(gnn.GCNConv(3, 4), 4).double()
    assert assert_discrete_consistency(model, SPEC) < 1e-9
    assert path_error(model, SPEC) < 1e-9
    monkeypatch.setitem(KERNELS, gnn.GCNConv, kernel)
    with pytest.raises(AssertionError, match="the dense path is off by"):
        assert_discrete_consistency(model, SPEC)
    assert path_error(model, SPEC) > 1e-3


def test_a_kernel_wrong_only_in_its_gradient_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = KERNELS[gnn.GCNConv]
    model = TinyClassifier(gnn.GCNConv(3, 4), 4).double()
    monkeypatch.setitem(KERNELS, gnn.GCNConv, lambda *args: right(*args).detach())
    assert_discrete_consistency(model, SPEC)
    assert path_error(model, SPEC) > 1e-3


class DoubledGCN(gnn.GCNConv):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return 2 * super().forward(x, edge_index)


def test_a_subclass_never_uses_the_kernel_of_its_parent(spies: dict[type, Spy]) -> None:
    model = TinyClassifier(DoubledGCN(3, 4), 4)
    run(model)
    assert spies[gnn.GCNConv].calls == 0
    assert_discrete_consistency(model, SPEC)


def test_a_layer_with_a_forward_of_its_own_keeps_it(spies: dict[type, Spy]) -> None:
    conv = gnn.GCNConv(3, 4)
    original = conv.forward
    conv.forward = own = lambda x, edge_index: 3 * original(x, edge_index)
    model = TinyClassifier(conv, 4)
    run(model)
    assert spies[gnn.GCNConv].calls == 0
    assert conv.forward is own
    assert_discrete_consistency(model, SPEC)


def test_hooks_between_the_steps_of_a_layer_are_run(spies: dict[type, Spy]) -> None:
    conv = gnn.GCNConv(3, 4)
    conv.register_message_forward_hook(lambda module, inputs, output: -output)
    model = TinyClassifier(conv, 4)
    run(model)
    assert spies[gnn.GCNConv].calls == 0
    assert_discrete_consistency(model, SPEC)


class HalfTheEdges(nn.Module):
    """Gives the layer some of the edges: a view that begins where the full list does."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.head = layer, nn.Linear(4, 2)

    def forward(self, data: Batch) -> Tensor:
        some = data.edge_index[:, : data.edge_index.size(1) // 2]
        return self.head(gnn.global_add_pool(self.layer(data.x, some), data.batch))


def test_a_kernel_is_not_given_part_of_the_edges(spies: dict[type, Spy]) -> None:
    run(HalfTheEdges(gnn.GCNConv(3, 4)))
    assert spies[gnn.GCNConv].calls == 0


@pytest.mark.parametrize(
    ("layer", "arguments"),
    [
        (gnn.GCNConv(3, 4), ("edge_weight",)),
        (gnn.GraphConv(3, 4), ("edge_weight",)),
        (gnn.GraphConv(3, 4, aggr="median"), ()),
        (gnn.SAGEConv(3, 4, aggr="lstm"), ()),
        (gnn.GATConv((3, 3), 4), ()),
        (gnn.GATConv(3, 4, edge_dim=2, fill_value="max"), ("edge_attr",)),
        (gnn.GATv2Conv(3, 4, edge_dim=2, fill_value="max"), ("edge_attr",)),
        (gnn.NNConv(3, 4, nn.Sequential(nn.Linear(2, 12), nn.ReLU())), ("edge_attr",)),
        (gnn.GCNConv(3, 4, flow="target_to_source"), ()),
    ],
    ids=lambda value: repr(value) if isinstance(value, nn.Module) else "",
)
def test_kernels_decline_what_they_were_not_written_for(
    layer: nn.Module, arguments: tuple[str, ...], spies: dict[type, Spy]
) -> None:
    class Direct(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.head = layer, nn.Linear(4, 2)

        def forward(self, data: Batch) -> Tensor:
            values = {"edge_attr": data.edge_attr, "edge_weight": data.edge_attr[:, 0]}
            extra = {name: values[name] for name in arguments}
            return self.head(
                gnn.global_add_pool(layer(data.x, data.edge_index, **extra), data.batch)
            )

    run(Direct(), EDGE_SPEC)
    assert sum(spy.calls for spy in spies.values()) == 0


def test_attention_weights_can_still_be_asked_for() -> None:
    class Attentive(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = gnn.GATConv(3, 4), nn.Linear(4, 2)

        def forward(self, data: Batch) -> Tensor:
            x, _ = self.conv(data.x, data.edge_index, return_attention_weights=True)
            return self.head(gnn.global_add_pool(x, data.batch))

    assert_discrete_consistency(Attentive().double(), SPEC)


@pytest.mark.parametrize("options", [{}, {"num_bases": 2}, {"num_blocks": 2}], ids=str)
def test_the_relation_kernel_equals_the_layer_it_stands_in_for(
    options: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With hard types and soft weights the generic path can compute a fast RGCN, too."""
    edges = (Categorical(RELATIONS, encoding="index"),)
    spec = GraphSpec((Categorical(4),), edges, directed=True)
    layer = gnn.FastRGCNConv(4, HIDDEN, RELATIONS, aggr="add", **options)
    model = TinyClassifier(layer, HIDDEN, edge="edge_type").double()
    graphs = random_soft_graphs(spec, 3, 5, torch.Generator().manual_seed(0), dtype=torch.float64)
    hard = nn.functional.one_hot(graphs.edges.argmax(-1), RELATIONS).double()
    graphs = type(graphs)(spec, graphs.weight, graphs.nodes, hard)
    relaxed = RelaxedModel(GraphClassifier(model, spec))
    with_kernel = relaxed(graphs).logits
    monkeypatch.delitem(REQUIRED, gnn.FastRGCNConv)
    assert torch.allclose(with_kernel, relaxed(graphs).logits, atol=1e-12)


def test_a_soft_type_is_the_mixture_of_its_relations() -> None:
    spec = GraphSpec((Categorical(4),), (Categorical(2, encoding="index"),))
    layer = gnn.RGCNConv(4, HIDDEN, 2, aggr="add")
    model = TinyClassifier(layer, HIDDEN, edge="edge_type", pool=gnn.global_add_pool)
    model.activation = nn.Identity()
    relaxed = RelaxedModel(GraphClassifier(model.double(), spec))
    graphs = random_soft_graphs(spec, 2, 4, torch.Generator().manual_seed(0), dtype=torch.float64)
    ends = [torch.zeros_like(graphs.edges), torch.zeros_like(graphs.edges)]
    ends[0][..., 0], ends[1][..., 1] = 1, 1
    shares = 0.3 * ends[0] + 0.7 * ends[1]
    logits = [
        relaxed(type(graphs)(spec, graphs.weight, graphs.nodes, edges)).logits
        for edges in (*ends, shares)
    ]
    assert torch.allclose(logits[2], 0.3 * logits[0] + 0.7 * logits[1], atol=1e-12)


def test_the_names_of_the_fast_layers_are_told() -> None:
    model = TinyClassifier([gnn.GCNConv(IN, 4), gnn.TAGConv(4, 4), gnn.SAGEConv(4, 4)], 4)
    relaxed = RelaxedModel(GraphClassifier(model, GraphSpec((Categorical(IN),))))
    with relaxed.session():
        assert relaxed.fast_layers == ["convs.0", "convs.2"]


def test_edge_features_of_one_column_may_be_flat() -> None:
    layer = gnn.GATConv(3, 4, edge_dim=1)

    class Flat(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = layer, nn.Linear(4, 2)

        def forward(self, data: Batch) -> Tensor:
            x = self.conv(data.x, data.edge_index, data.edge_attr[:, 0])
            return self.head(gnn.global_add_pool(x, data.batch))

    assert_discrete_consistency(Flat().double(), EDGE_SPEC)
    assert path_error(Flat().double(), EDGE_SPEC) < 1e-9


@pytest.mark.parametrize("layer", [gnn.GATConv, gnn.GATv2Conv])
def test_layers_that_are_given_other_edge_features_see_those(layer: Any) -> None:
    class Changing(nn.Module):
        """Edge features of its own making in every layer, the graphs' own again in the last."""

        def __init__(self) -> None:
            super().__init__()
            self.convs = nn.ModuleList(layer(3, 3, edge_dim=2) for _ in range(4))
            self.mixes = nn.ModuleList(nn.Linear(2, 2) for _ in range(4))
            self.head = nn.Linear(3, 2)

        def forward(self, data: Batch) -> Tensor:
            x = data.x
            for conv, mix in zip(self.convs, self.mixes, strict=True):
                x = conv(x, data.edge_index, mix(data.edge_attr))
                x = conv(x, data.edge_index, data.edge_attr)
            return self.head(gnn.global_add_pool(x, data.batch))

    torch.manual_seed(0)
    assert_discrete_consistency(Changing().double(), EDGE_SPEC)
    assert path_error(Changing().double(), EDGE_SPEC) < 1e-9


@pytest.mark.parametrize("layer", [gnn.GATConv, gnn.GATv2Conv, gnn.TransformerConv])
@pytest.mark.parametrize("dense", [True, False], ids=["dense", "generic"])
def test_attention_pays_none_to_absent_nodes_whatever_their_features(
    layer: Any, dense: bool
) -> None:
    """Behind a norm over nodes that are all alike, those of absent ones are beyond all bounds."""

    class Normed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = gnn.GraphConv(1, 8)
            self.norm = gnn.GraphNorm(8, eps=1e-20)
            self.conv = layer(8, 8, edge_dim=1)
            self.head = nn.Linear(8, 2)

        def forward(self, data: Batch) -> Tensor:
            x = self.norm(self.first(data.x, data.edge_index), data.batch)
            x = self.conv(x, data.edge_index, data.edge_attr)
            return self.head(gnn.global_add_pool(x, data.batch))

    torch.manual_seed(0)
    spec = GraphSpec(edges=(Continuous(1, 0.0, 1.0),))
    classifier = GraphClassifier(Normed().double(), spec)
    edges = torch.rand(1, 7, 7, 1, dtype=torch.float64)
    weight = torch.zeros(1, 7, 7, dtype=torch.float64)
    weight[0, 2, 5] = weight[0, 5, 2] = 1.0
    pair = DenseGraphs(spec, weight, torch.ones(1, 7, 1, dtype=torch.float64), edges)
    soft = RelaxedModel(classifier, dense)(pair).logits
    assert torch.allclose(soft, classifier.score(pair).logits, atol=1e-9)
