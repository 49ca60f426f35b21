"""Models that the recipe was never tuned on, trained where they are needed.

Four small data sets (two with continuous features) and fifteen architectures that differ in
layers, readout, depth and width. Each trains in seconds; what was trained is kept in memory for the
process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import (
    ChebConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    GINEConv,
    GraphConv,
    PNAConv,
    SAGEConv,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.utils import from_networkx

from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import Categorical, Continuous, GraphSpec

__all__ = ["ZOO", "Subject", "ZooModel", "trained"]

GRAPHS = 400
READOUTS = {"sum": global_add_pool, "mean": global_mean_pool, "max": global_max_pool}


@dataclass(frozen=True)
class Subject:
    """A trained model with what is needed to explain it."""

    model: nn.Module
    spec: GraphSpec
    statistics: ClassStatistics
    accuracy: float


@dataclass(frozen=True)
class Entry:
    """How to make one subject: data, layers, readout, width and depth."""

    data: str
    layer: str
    readout: str
    width: int = 32
    depth: int = 3


ZOO: dict[str, Entry] = {
    "zoo-gin-sum": Entry("ba2", "gin", "sum"),
    "zoo-gin-max-deep": Entry("ba2", "gin", "max", 24, 5),
    "zoo-sage-max": Entry("colours", "sage", "max", 48),
    "zoo-cheb-unsure": Entry("ba2", "cheb", "mean"),
    "zoo-cheb-mean": Entry("colours", "cheb", "mean"),
    "zoo-gatv2-mean": Entry("colours", "gatv2", "mean"),
    "zoo-graphconv-mean": Entry("colours", "graphconv", "mean", 64, 2),
    "zoo-gcn-max-wide": Entry("colours", "gcn", "max", 128, 3),
    "zoo-sage-sum": Entry("colours", "sage", "sum"),
    "zoo-pna-mean": Entry("levels", "pna", "mean", 16),
    "zoo-transformer-max": Entry("levels", "transformer", "max"),
    "zoo-gin-mean": Entry("levels", "gin", "mean"),
    "zoo-gine-sum": Entry("strengths", "gine", "sum"),
    "zoo-transformer-mean": Entry("strengths", "transformer", "mean", 24),
    "zoo-gatv2-max": Entry("levels", "gatv2", "max"),
}

SPECS = {
    "ba2": GraphSpec(class_names=("house", "cycle")),
    "colours": GraphSpec(
        nodes=(Categorical(4, ("red", "green", "blue", "grey"), name="colour"),),
        class_names=("neither", "triangle", "square"),
    ),
    "levels": GraphSpec(
        nodes=(Continuous(2, -1.0, 1.0, ("level", "noise")),), class_names=("low", "high")
    ),
    "strengths": GraphSpec(
        edges=(Continuous(1, 0.0, 1.0, ("strength",)),), class_names=("weak", "strong")
    ),
}


class ZooModel(nn.Module):
    """A stack of layers, a readout and two dense layers."""

    def __init__(self, entry: Entry, spec: GraphSpec, degrees: Tensor) -> None:
        """Build the model of an entry for graphs of a spec."""
        super().__init__()
        self.takes_edges = bool(spec.edges)
        widths = [spec.node_width] + [entry.width] * entry.depth
        self.layers = nn.ModuleList(
            _layer(entry.layer, a, b, spec.edge_width, degrees) for a, b in pairwise(widths)
        )
        self.readout = READOUTS[entry.readout]
        self.dense = nn.Linear(entry.width, entry.width)
        self.out = nn.Linear(entry.width, spec.num_classes)

    def forward(self, data: Batch) -> Tensor:
        """Return logits, [B, C]."""
        x = data.x
        for layer in self.layers:
            extra = (data.edge_attr,) if self.takes_edges else ()
            x = torch.nn.functional.leaky_relu(layer(x, data.edge_index, *extra))
        pooled = self.readout(x, data.batch)
        out: Tensor = self.out(torch.nn.functional.leaky_relu(self.dense(pooled)))
        return out


def _layer(name: str, a: int, b: int, edge_width: int, degrees: Tensor) -> nn.Module:
    def network(width: int) -> nn.Sequential:
        return nn.Sequential(nn.Linear(width, b), nn.ReLU(), nn.Linear(b, b))

    edge_dim = edge_width or None
    makers: dict[str, Callable[[], nn.Module]] = {
        "gcn": lambda: GCNConv(a, b),
        "graphconv": lambda: GraphConv(a, b),
        "sage": lambda: SAGEConv(a, b),
        "cheb": lambda: ChebConv(a, b, K=3),
        "gin": lambda: GINConv(network(a)),
        "gine": lambda: GINEConv(network(a), edge_dim=edge_dim),
        "gatv2": lambda: GATv2Conv(a, b // 4, heads=4, edge_dim=edge_dim),
        "transformer": lambda: TransformerConv(a, b // 2, heads=2, edge_dim=edge_dim),
        "pna": lambda: PNAConv(
            a, b, ["mean", "max", "std"], ["identity", "amplification"], degrees
        ),
    }
    return makers[name]()


@lru_cache(maxsize=32)
def trained(name: str, seed: int = 0) -> Subject:
    """Train a model of the zoo, always the same for the same seed."""
    entry = ZOO[name]
    spec = SPECS[entry.data]
    graphs = _dataset(entry.data, seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = ZooModel(entry, spec, _degree_histogram(graphs))
        _train(model, graphs)
    model.eval()
    batch = Batch.from_data_list(graphs)
    with torch.no_grad():
        accuracy = float((model(batch).argmax(1) == batch.y).float().mean())
    return Subject(model, spec, ClassStatistics.from_dataset(model, graphs, spec), accuracy)


def _train(model: nn.Module, graphs: list[Data], epochs: int = 80, size: int = 40) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        order = torch.randperm(len(graphs)).tolist()
        for start in range(0, len(order), size):
            batch = Batch.from_data_list([graphs[i] for i in order[start : start + size]])
            loss = nn.functional.cross_entropy(model(batch), batch.y, label_smoothing=1e-4)
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        schedule.step()


def _degree_histogram(graphs: list[Data]) -> Tensor:
    degrees = torch.cat(
        [torch.bincount(g.edge_index[1], minlength=int(g.num_nodes or 0)) for g in graphs]
    )
    return torch.bincount(degrees)


def _dataset(name: str, seed: int) -> list[Data]:
    rng = np.random.default_rng(seed)
    makers: dict[str, Callable[[np.random.Generator, int], Data]] = {
        "ba2": _house_or_cycle,
        "colours": _coloured,
        "levels": _levelled,
        "strengths": _strong,
    }
    classes = SPECS[name].num_classes
    return [makers[name](rng, i % classes) for i in range(GRAPHS)]


def _joined(rng: np.random.Generator, base: nx.Graph, motif: nx.Graph) -> nx.Graph:
    """A base graph and a motif with one edge between them; the motif's nodes come last."""
    graph = nx.disjoint_union(base, motif)
    first = base.number_of_nodes()
    graph.add_edge(int(rng.integers(first)), first + int(rng.integers(motif.number_of_nodes())))
    return graph


def _tree(rng: np.random.Generator, low: int = 4, high: int = 14) -> nx.Graph:
    return nx.random_labeled_tree(int(rng.integers(low, high)), seed=int(rng.integers(1 << 30)))


def _data(graph: nx.Graph, label: int, x: Tensor) -> Data:
    data = from_networkx(nx.Graph(graph.edges()))
    order = torch.tensor(list(nx.Graph(graph.edges()).nodes()))
    return Data(x=x[order], edge_index=data.edge_index, y=torch.tensor([label]))


def _house_or_cycle(rng: np.random.Generator, label: int) -> Data:
    """BA-2-motifs: a Barabasi-Albert graph with a house (0) or a five-cycle (1)."""
    base = nx.barabasi_albert_graph(int(rng.integers(10, 20)), 1, seed=int(rng.integers(1 << 30)))
    house = nx.house_graph()
    graph = _joined(rng, base, house if label == 0 else nx.cycle_graph(5))
    return _data(graph, label, torch.ones(graph.number_of_nodes(), 1))


def _coloured(rng: np.random.Generator, label: int) -> Data:
    """A tree with random colours and a red-green-blue triangle (1), a square (2) or neither."""
    base = _tree(rng)
    colours = list(rng.integers(0, 4, base.number_of_nodes()))
    if label:
        size = 2 + label
        base = _joined(rng, base, nx.cycle_graph(size))
        colours += list(range(size))
    x = torch.nn.functional.one_hot(torch.tensor(colours, dtype=torch.long), 4).float()
    return _data(base, label, x)


def _levelled(rng: np.random.Generator, label: int) -> Data:
    """A tree with a triangle whose levels are all high (1) or all low (0)."""
    graph = _joined(rng, _tree(rng), nx.complete_graph(3))
    x = torch.tensor(rng.uniform(-1, 1, (graph.number_of_nodes(), 2)), dtype=torch.float32)
    x[-3:, 0] = x[-3:, 0].abs() * (1 if label else -1)
    return _data(graph, label, x)


def _strong(rng: np.random.Generator, label: int) -> Data:
    """A tree with a cycle whose edges are all strong (1) or all weak (0)."""
    size = int(rng.integers(3, 6))
    graph = _joined(rng, _tree(rng), nx.cycle_graph(size))
    data = _data(graph, label, torch.ones(graph.number_of_nodes(), 1))
    cycle = {frozenset(edge) for edge in _cycle_edges(graph)}
    order = list(nx.Graph(graph.edges()).nodes())
    strength: dict[frozenset[Any], float] = {}
    values = []
    for i, j in data.edge_index.t().tolist():
        edge = frozenset((order[i], order[j]))
        if edge not in strength:
            low, high = ((0.7, 1.0) if label else (0.0, 0.3)) if edge in cycle else (0.0, 1.0)
            strength[edge] = float(rng.uniform(low, high))
        values.append(strength[edge])
    data.edge_attr = torch.tensor(values).unsqueeze(1)
    return data


def _cycle_edges(graph: nx.Graph) -> list[tuple[Any, Any]]:
    cycle = nx.cycle_basis(graph)[0]
    return list(zip(cycle, cycle[1:] + cycle[:1], strict=True))
