"""A property test: the laws hold for architectures nobody wrote down.

Hypothesis draws layers, widths, norms, activations, readouts, edge features and direction, and
shrinks what fails to the smallest network that still does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import torch
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.relax import RelaxedModel, probe
from gnninterpreter.spec import Block, Categorical, Continuous, GraphSpec
from gnninterpreter.testing import (
    assert_absent_means_absent,
    assert_discrete_consistency,
    path_error,
)

NODES: tuple[Block, ...] = (Categorical(3), Continuous(1, -1.0, 1.0))
EDGES: tuple[Block, ...] = (Categorical(2), Continuous(1))
EDGE_WIDTH = 3
DEGREES = torch.tensor([1, 3, 5, 4, 3, 2, 1, 1])

Maker = Callable[[int, int], nn.Module]


def _mlp(width_in: int, width_out: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width_in, 5), nn.ReLU(), nn.Linear(5, width_out))


PLAIN: dict[str, Maker] = {
    "GCN": gnn.GCNConv,
    "GCN without loops": lambda i, o: gnn.GCNConv(i, o, add_self_loops=False),
    "GraphConv": gnn.GraphConv,
    "GraphConv mean": lambda i, o: gnn.GraphConv(i, o, aggr="mean"),
    "SAGE mean": gnn.SAGEConv,
    "SAGE max": lambda i, o: gnn.SAGEConv(i, o, aggr="max"),
    "SAGE sum": lambda i, o: gnn.SAGEConv(i, o, aggr="sum"),
    "GIN": lambda i, o: gnn.GINConv(_mlp(i, o), train_eps=True),
    "GAT": lambda i, o: gnn.GATConv(i, o // 2, heads=2),
    "GATv2": lambda i, o: gnn.GATv2Conv(i, o, heads=2, concat=False),
    "Transformer": lambda i, o: gnn.TransformerConv(i, o // 2, heads=2),
    "TAG": gnn.TAGConv,
    "Cheb": lambda i, o: gnn.ChebConv(i, o, K=2),
    "SG": lambda i, o: gnn.SGConv(i, o, K=2),
    "ARMA": gnn.ARMAConv,
    "LE": gnn.LEConv,
    "ResGated": gnn.ResGatedGraphConv,
    "General": lambda i, o: gnn.GeneralConv(i, o, attention=True),
    "EdgeConv": lambda i, o: gnn.EdgeConv(_mlp(2 * i, o)),
    "PNA": lambda i, o: gnn.PNAConv(i, o, ["mean", "max", "std"], ["identity", "linear"], DEGREES),
}
WITH_EDGES: dict[str, Maker] = {
    "GINE": lambda i, o: gnn.GINEConv(_mlp(i, o), edge_dim=EDGE_WIDTH),
    "GAT": lambda i, o: gnn.GATConv(i, o // 2, heads=2, edge_dim=EDGE_WIDTH),
    "GATv2": lambda i, o: gnn.GATv2Conv(i, o, edge_dim=EDGE_WIDTH),
    "Transformer": lambda i, o: gnn.TransformerConv(i, o, edge_dim=EDGE_WIDTH),
    "NNConv": lambda i, o: gnn.NNConv(i, o, nn.Linear(EDGE_WIDTH, i * o)),
    "NNConv deep": lambda i, o: gnn.NNConv(i, o, _mlp(EDGE_WIDTH, i * o), aggr="mean"),
    "ResGated": lambda i, o: gnn.ResGatedGraphConv(i, o, edge_dim=EDGE_WIDTH),
    "General": lambda i, o: gnn.GeneralConv(i, o, in_edge_channels=EDGE_WIDTH),
    "PNA": lambda i, o: gnn.PNAConv(i, o, ["sum", "min"], ["identity"], DEGREES, EDGE_WIDTH),
}
NORMS: dict[str, Callable[[int], nn.Module]] = {
    "batch": gnn.BatchNorm,
    "layer over graph": gnn.LayerNorm,
    "layer over node": lambda width: gnn.LayerNorm(width, mode="node"),
    "graph": gnn.GraphNorm,
    "instance": gnn.InstanceNorm,
    "pair": lambda width: gnn.PairNorm(),
}
POOLS: dict[str, tuple[int, Callable[[int], nn.Module]]] = {
    "add": (1, lambda width: gnn.SumAggregation()),
    "mean": (1, lambda width: gnn.MeanAggregation()),
    "max": (1, lambda width: gnn.MaxAggregation()),
    "std": (1, lambda width: gnn.StdAggregation()),
    "softmax": (1, lambda width: gnn.SoftmaxAggregation(learn=True)),
    "attention": (1, lambda width: gnn.AttentionalAggregation(_mlp(width, 1))),
    "set2set": (2, lambda width: gnn.Set2Set(width, 2)),
    "multi": (3, lambda width: gnn.MultiAggregation(["mean", "max", "sum"])),
}
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "elu": nn.functional.elu,
    "sigmoid": torch.sigmoid,
    "gelu": nn.functional.gelu,
}


@dataclass(frozen=True)
class Layer:
    """One step of an architecture; the name says which table it is from."""

    kind: str
    takes_edges: bool
    width: int
    activation: str
    norm: str | None


@dataclass(frozen=True)
class Architecture:
    """What hypothesis draws; small enough to be read in a failure."""

    layers: list[Layer]
    pool: str
    jumping: bool
    edges: bool
    directed: bool
    seed: int = field(default=0)
    alike: bool = False
    """Whether nodes have no features of their own: what a norm makes of those is extreme."""

    @property
    def spec(self) -> GraphSpec:
        nodes = () if self.alike else NODES
        return GraphSpec(nodes, EDGES if self.edges else (), directed=self.directed)

    def build(self) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return Network(self).double().eval()


class Network(nn.Module):
    """An architecture made real."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        self.convs, self.norms = nn.ModuleList(), nn.ModuleList()
        width, total = architecture.spec.node_width, 0
        for layer in architecture.layers:
            makers = WITH_EDGES if layer.takes_edges else PLAIN
            self.convs.append(makers[layer.kind](width, layer.width))
            norm = nn.Identity() if layer.norm is None else NORMS[layer.norm](layer.width)
            self.norms.append(norm)
            width, total = layer.width, total + layer.width
        read = total if architecture.jumping else width
        times, make_pool = POOLS[architecture.pool]
        self.pool, self.head = make_pool(read), nn.Linear(times * read, 2)

    def forward(self, data: Batch) -> Tensor:
        x, seen = data.x, []
        for layer, conv, norm in zip(self.architecture.layers, self.convs, self.norms, strict=True):
            edge = (data.edge_attr,) if layer.takes_edges else ()
            x = ACTIVATIONS[layer.activation](conv(x, data.edge_index, *edge))
            whole = layer.norm in ("layer over graph", "graph", "instance", "pair")
            x = norm(x, data.batch) if whole else norm(x)
            seen.append(x)
        x = torch.cat(seen, dim=-1) if self.architecture.jumping else x
        return self.head(self.pool(x, data.batch))


@st.composite
def architectures(draw: st.DrawFn, alike: bool = False) -> Architecture:
    """Random graph classifiers of one to three layers; of nodes that are all alike, if allowed."""
    edges = draw(st.booleans(), label="edge features")
    layers = []
    for _ in range(draw(st.integers(1, 3), label="depth")):
        takes_edges = edges and draw(st.booleans())
        layers.append(
            Layer(
                draw(st.sampled_from(list(WITH_EDGES if takes_edges else PLAIN))),
                takes_edges,
                draw(st.sampled_from([2, 4, 6])),
                draw(st.sampled_from(list(ACTIVATIONS))),
                draw(st.one_of(st.none(), st.sampled_from(list(NORMS)))),
            )
        )
    return Architecture(
        layers,
        draw(st.sampled_from(list(POOLS))),
        draw(st.booleans()),
        edges,
        draw(st.booleans()),
        draw(st.integers(0, 2**16)),
        alike and draw(st.booleans()),
    )


moderately = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@moderately
@given(architecture=architectures(True), size=st.integers(2, 9), seed=st.integers(0, 2**16))
def test_every_architecture_keeps_the_laws(
    architecture: Architecture, size: int, seed: int
) -> None:
    classifier = GraphClassifier(architecture.build(), architecture.spec)
    spec = architecture.spec
    worst = assert_discrete_consistency(classifier, spec, sizes=(size,), seed=seed, limit=1e-9)
    note(f"off by {worst:.2g} on discrete graphs")
    assert_absent_means_absent(classifier, spec, num_candidates=max(size, 3), seed=seed)


@moderately
@given(architecture=architectures(), size=st.integers(2, 7), seed=st.integers(0, 2**16))
def test_every_architecture_gives_the_same_on_both_paths(
    architecture: Architecture, size: int, seed: int
) -> None:
    # Not of nodes that are alike: the slope of a maximum over equals is a matter of taste.
    classifier = GraphClassifier(architecture.build(), architecture.spec)
    error = path_error(classifier, architecture.spec, num_candidates=size, seed=seed)
    note(f"paths differ by {error:.2g}")
    assert error < 1e-9


def test_an_architecture_outside_the_laws_would_be_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layer = Layer("GCN", False, 4, "tanh", None)
    architecture = Architecture([layer], "mean", False, False, False)
    assert probe(RelaxedModel(GraphClassifier(architecture.build(), architecture.spec))).passed
    monkeypatch.setitem(PLAIN, "GCN", gnn.MFConv)
    with pytest.raises(AssertionError, match="off by"):
        assert_discrete_consistency(architecture.build(), architecture.spec)
