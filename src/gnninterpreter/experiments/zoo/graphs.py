"""Four small data sets that the recipe was never tuned on, two of them with continuous features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx

from gnninterpreter.spec import Categorical, Continuous, GraphSpec

GRAPHS = 400

SPECS = {
    "ba2": GraphSpec(class_names=("house", "cycle")),
    "colors": GraphSpec(
        nodes=(Categorical(4, ("red", "green", "blue", "grey"), name="color"),),
        class_names=("neither", "triangle", "square"),
    ),
    "levels": GraphSpec(
        nodes=(Continuous(2, -1.0, 1.0, ("level", "noise")),), class_names=("low", "high")
    ),
    "strengths": GraphSpec(
        edges=(Continuous(1, 0.0, 1.0, ("strength",)),), class_names=("weak", "strong")
    ),
}


def draw(name: str, seed: int) -> list[Data]:
    """Draw the graphs of a data set, as many of each class."""
    rng = np.random.default_rng(seed)
    makers: dict[str, Callable[[np.random.Generator, int], Data]] = {
        "ba2": _house_or_cycle,
        "colors": _colored,
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


def _tree(rng: np.random.Generator) -> nx.Graph:
    return nx.random_labeled_tree(int(rng.integers(4, 14)), seed=int(rng.integers(1 << 30)))


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


def _colored(rng: np.random.Generator, label: int) -> Data:
    """A tree with random colors and a red-green-blue triangle (1), a square (2) or neither."""
    base = _tree(rng)
    colors = list(rng.integers(0, 4, base.number_of_nodes()))
    if label:
        size = 2 + label
        base = _joined(rng, base, nx.cycle_graph(size))
        colors += list(range(size))
    x = torch.nn.functional.one_hot(torch.tensor(colors, dtype=torch.long), 4).float()
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
    ring = nx.cycle_basis(graph)[0]
    cycle = {frozenset(edge) for edge in zip(ring, ring[1:] + ring[:1], strict=True)}
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
