"""Motif: which of four colored motifs hangs on a randomly colored graph (paper, Algorithm 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.families import adjacency
from gnninterpreter.datasets.rome import BaseGraph, RomeDataset
from gnninterpreter.spec import Categorical, GraphSpec

Edge = tuple[int, int]

COLORS = ("red", "orange", "green", "blue", "purple")
_HOUSE = ((0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (3, 4))

MOTIFS: dict[str, tuple[Edge, ...]] = {
    "house": _HOUSE,
    "house-x": (*_HOUSE, (0, 3), (1, 2)),
    "complete-4": tuple((i, j) for i in range(4) for j in range(i + 1, 4)),
    "complete-5": tuple((i, j) for i in range(5) for j in range(i + 1, 5)),
}
"""Edges of each motif, whose node i has color i."""

CLASS_NAMES = ("others", *MOTIFS)
# House-X and Complete-5 hold Complete-4, so the larger of two motifs decides.
_PRECEDENCE = ("complete-5", "house-x", "complete-4", "house")


class Motif(RomeDataset):
    """Rome graphs with random colors, joined by one edge to a motif, or to a broken one.

    Differs from the paper: where the draw leaves another motif than the label says, it is drawn
    again. A motif short of one edge can still hold a smaller one (Complete-5 without an edge at
    purple holds Complete-4, which would make its label "others" wrong), and a base graph can hold
    one by chance.
    """

    name = "motif"
    spec = GraphSpec(
        nodes=(
            Categorical(
                5, COLORS, ("#D62728", "#FF7F0E", "#2CA02C", "#1F77B4", "#9467BD"), name="color"
            ),
        ),
        class_names=CLASS_NAMES,
    )

    def decorate(self, base: BaseGraph, rng: np.random.Generator) -> Data:
        """Color the graph and join a motif to it."""
        label = int(rng.integers(len(CLASS_NAMES)))
        while True:
            graph = _join(base, label, rng)
            if Motif.oracle(graph) == label:
                return graph

    @staticmethod
    def oracle(graph: Data) -> int:
        """Return the class of the largest motif in the graph, others if there is none."""
        found = find_motifs(graph)
        return CLASS_NAMES.index(found[0]) if found else 0


def find_motifs(graph: Data) -> list[str]:
    """Name the motifs a graph holds as induced subgraphs, larger ones first."""
    neighbors = adjacency(graph)
    by_color: list[set[int]] = [set() for _ in COLORS]
    for node, color in enumerate(graph.x.argmax(1).tolist()):
        by_color[color].add(node)
    return [name for name in _PRECEDENCE if _holds(neighbors, by_color, MOTIFS[name])]


def _holds(
    neighbors: dict[int, set[int]], by_color: Sequence[set[int]], motif: Sequence[Edge]
) -> bool:
    """Search for an induced copy, one motif node after the other."""
    size = 1 + max(j for _, j in motif)
    joined = [[i for i in range(k) if (i, k) in motif] for k in range(size)]
    apart = [[i for i in range(k) if (i, k) not in motif] for k in range(size)]
    stack: list[tuple[int, ...]] = [(node,) for node in by_color[0]]
    while stack:
        chosen = stack.pop()
        k = len(chosen)
        if k == size:
            return True
        fitting = set(by_color[k])
        for i in joined[k]:
            fitting &= neighbors[chosen[i]]
        for i in apart[k]:
            fitting -= neighbors[chosen[i]]
        stack.extend((*chosen, node) for node in fitting)
    return False


def _join(base: BaseGraph, label: int, rng: np.random.Generator) -> Data:
    name = CLASS_NAMES[label] if label else list(MOTIFS)[int(rng.integers(len(MOTIFS)))]
    motif = list(MOTIFS[name])
    size = 1 + max(j for _, j in motif)
    if label == 0:
        motif.pop(int(rng.integers(len(motif))))
    colors = [*rng.integers(len(COLORS), size=base.num_nodes).tolist(), *range(size)]
    first = base.num_nodes
    bridge = (int(rng.integers(first)), first + int(rng.integers(size)))
    edges = [*base.edges, *((first + i, first + j) for i, j in motif), bridge]
    return undirected_graph(first + size, edges, label, x=torch.eye(len(COLORS))[colors])
