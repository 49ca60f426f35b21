"""Cyclicity: is there a cycle whose edges all have one color, and which (paper, Algorithm 2)."""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.families import count_cycles
from gnninterpreter.datasets.rome import BaseGraph
from gnninterpreter.datasets.rome_base import RomeDataset
from gnninterpreter.spec import Categorical, GraphSpec

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
        colors = torch.empty(0) if graph.edge_attr is None else graph.edge_attr.argmax(1)
        cycles = [
            count_cycles(
                Data(edge_index=graph.edge_index[:, colors == color], num_nodes=graph.num_nodes)
            )
            for color in (RED, GREEN)
        ]
        if not any(cycles):
            return ACYCLIC
        return RED_CYCLIC if cycles[RED] >= cycles[GREEN] else GREEN_CYCLIC


def _leave_one_cycle(base: BaseGraph, rng: np.random.Generator) -> tuple[list[Edge], list[Edge]]:
    """Remove a random edge of a random fundamental cycle until one is left.

    Also says which of the edges that remain form the cycle, none in a forest.
    """
    tree = _spanning_forest(base, int(rng.integers(base.num_nodes)))
    chords = [(i, j) for i, j in base.edges if j not in tree[i]]
    while len(chords) > 1:
        chord = chords.pop(int(rng.integers(len(chords))))
        cycle = [chord, *_path(tree, *chord)]
        i, j = removed = cycle[int(rng.integers(len(cycle)))]
        if removed != chord:  # the chord takes its place in the forest
            tree[i].remove(j)
            tree[j].remove(i)
            _join(tree, *chord)
    edges = sorted([*((i, j) for i in range(base.num_nodes) for j in tree[i] if i < j), *chords])
    return edges, [chord for last in chords for chord in (last, *_path(tree, *last))]


def _spanning_forest(base: BaseGraph, root: int) -> list[set[int]]:
    """Return the neighbours of each node in a breadth-first forest, starting at ``root``."""
    near: list[list[int]] = [[] for _ in range(base.num_nodes)]
    for i, j in base.edges:
        near[i].append(j)
        near[j].append(i)
    forest: list[set[int]] = [set() for _ in near]
    seen: set[int] = set()
    for start in (root, *range(base.num_nodes)):
        waiting = [] if start in seen else [start]
        seen.add(start)
        for node in waiting:  # grows as it is walked through
            for other in near[node]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
                    _join(forest, node, other)
    return forest


def _join(forest: list[set[int]], i: int, j: int) -> None:
    forest[i].add(j)
    forest[j].add(i)


def _path(tree: list[set[int]], start: int, end: int) -> list[Edge]:
    """Return the edges of the path between two nodes of a tree, from the end on."""
    before, waiting = {start: start}, [start]
    while end not in before:
        node = waiting.pop()
        for other in tree[node]:
            if other not in before:
                before[other] = node
                waiting.append(other)
    path = []
    while end != start:
        path.append((min(end, before[end]), max(end, before[end])))
        end = before[end]
    return path
