"""Cyclicity: is there a cycle whose edges all have one color, and which (paper, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.rome import BaseGraph
from gnninterpreter.datasets.rome_base import RomeDataset
from gnninterpreter.spec import Categorical, GraphSpec

__all__ = ["Cyclicity"]

Edge = tuple[int, int]

RED, GREEN = 0, 1
RED_CYCLIC, GREEN_CYCLIC, ACYCLIC = 0, 1, 2


class Cyclicity(RomeDataset):
    """Graphs with one cycle at most, whose edges are red or green.

    Edges are taken from random cycles until one cycle is left. It gets one color, and then a
    random one of its edges gets a random color: the graph is red cyclic or green cyclic if the
    cycle is still of one color, acyclic otherwise (also where there was no cycle to begin with).
    The other edges have random colors.
    """

    name = "cyclicity"
    spec = GraphSpec(
        edges=(Categorical(2, ("red", "green"), ("#D62728", "#2CA02C"), name="color"),),
        class_names=("red cyclic", "green cyclic", "acyclic"),
    )

    def decorate(self, base: BaseGraph, rng: np.random.Generator) -> Data:
        """Cut the graph down to one cycle, and color it."""
        edges, cycle = _leave_one_cycle(base, rng)
        colors = {edge: int(rng.integers(2)) for edge in edges}
        label = ACYCLIC
        if cycle:
            cycle_color, edge_color = int(rng.integers(2)), int(rng.integers(2))
            colors |= dict.fromkeys(cycle, cycle_color)
            colors[cycle[int(rng.integers(len(cycle)))]] = edge_color
            if cycle_color == edge_color:
                label = RED_CYCLIC if cycle_color == RED else GREEN_CYCLIC
        one_hot = torch.eye(2)[[colors[edge] for edge in edges]]
        return undirected_graph(base.num_nodes, edges, label, edge_attr=one_hot)

    @staticmethod
    def oracle(graph: Data) -> int:
        """Return the color in which some cycle lies whole, or acyclic if there is none.

        A graph with cycles of both colors belongs to neither class of the paper; it counts as the
        color of which it has more independent cycles, as red where they are equal.
        """
        colors = graph.edge_attr.argmax(1).tolist() if graph.edge_attr is not None else []
        pairs = [(min(i, j), max(i, j)) for i, j in graph.edge_index.t().tolist()]
        cycles = [
            _count_cycles({pair for pair, c in zip(pairs, colors, strict=True) if c == color})
            for color in (RED, GREEN)
        ]
        if not any(cycles):
            return ACYCLIC
        return RED_CYCLIC if cycles[RED] >= cycles[GREEN] else GREEN_CYCLIC


def _leave_one_cycle(base: BaseGraph, rng: np.random.Generator) -> tuple[list[Edge], list[Edge]]:
    """Remove a random edge of a random fundamental cycle until one is left.

    Returns:
        The edges that remain, and those of them that form the cycle, none in a forest.
    """
    tree, chords = _spanning_forest(base, int(rng.integers(base.num_nodes)))
    while len(chords) > 1:
        chord = chords.pop(int(rng.integers(len(chords))))
        cycle = [chord, *_path(tree, *chord)]
        removed = cycle[int(rng.integers(len(cycle)))]
        if removed != chord:  # the chord takes its place in the forest
            _unlink(tree, removed)
            _link(tree, chord)
    kept = [(i, j) for i, others in tree.items() for j in others if i < j]
    if not chords:
        return sorted(kept), []
    return sorted(kept + chords), [chords[0], *_path(tree, *chords[0])]


def _spanning_forest(base: BaseGraph, root: int) -> tuple[dict[int, set[int]], list[Edge]]:
    """Return a breadth-first forest, starting at ``root``, and the edges outside it."""
    neighbors: dict[int, list[int]] = {node: [] for node in range(base.num_nodes)}
    for i, j in base.edges:
        neighbors[i].append(j)
        neighbors[j].append(i)
    tree: dict[int, set[int]] = {node: set() for node in range(base.num_nodes)}
    seen: set[int] = set()
    for start in (root, *range(base.num_nodes)):
        if start in seen:
            continue
        seen.add(start)
        queue = [start]
        for node in queue:
            for other in neighbors[node]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
                    _link(tree, (node, other))
    return tree, [(i, j) for i, j in base.edges if j not in tree[i]]


def _path(tree: Mapping[int, set[int]], start: int, end: int) -> list[Edge]:
    """Return the edges of the path between two nodes of a tree."""
    parents, queue = {start: start}, [start]
    for node in queue:
        if node == end:
            break
        for other in tree[node]:
            if other not in parents:
                parents[other] = node
                queue.append(other)
    edges, node = [], end
    while node != start:
        edges.append((min(node, parents[node]), max(node, parents[node])))
        node = parents[node]
    return edges


def _link(tree: dict[int, set[int]], edge: Edge) -> None:
    tree[edge[0]].add(edge[1])
    tree[edge[1]].add(edge[0])


def _unlink(tree: dict[int, set[int]], edge: Edge) -> None:
    tree[edge[0]].discard(edge[1])
    tree[edge[1]].discard(edge[0])


def _count_cycles(edges: set[Edge]) -> int:
    """Return the number of independent cycles, by joining the ends of one edge after the other."""
    parents: dict[int, int] = {}

    def find(node: int) -> int:
        while parents.setdefault(node, node) != node:
            node = parents[node]
        return node

    count = 0
    for i, j in edges:
        if i == j:
            continue
        a, b = find(i), find(j)
        count += a == b
        parents[a] = b
    return count
