"""Cyclicity: is there a cycle whose edges all have one color, and which (paper, Algorithm 2)."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.families import count_cycles
from gnninterpreter.datasets.rome import BaseGraph, RomeDataset
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
    """Remove edges of random fundamental cycles until one is left; also gives its edges."""
    graph = nx.empty_graph(base.num_nodes)
    graph.add_edges_from(base.edges)
    tree = nx.empty_graph(base.num_nodes)
    for start in (int(rng.integers(base.num_nodes)), *range(base.num_nodes)):
        if not tree.degree[start]:
            tree.add_edges_from(nx.bfs_edges(graph, start))
    chords = [edge for edge in base.edges if not tree.has_edge(*edge)]
    while len(chords) > 1:
        chord = chords.pop(int(rng.integers(len(chords))))
        cycle = [chord, *_path(tree, *chord)]
        removed = cycle[int(rng.integers(len(cycle)))]
        if removed != chord:  # the chord takes its place in the forest
            tree.remove_edge(*removed)
            tree.add_edge(*chord)
    edges = sorted([*(_pair(*edge) for edge in tree.edges), *chords])
    return edges, [edge for last in chords for edge in (last, *_path(tree, *last))]


def _path(tree: nx.Graph, start: int, end: int) -> list[Edge]:
    """The edges between two nodes of a tree, from the end on."""
    return [_pair(*edge) for edge in pairwise(nx.shortest_path(tree, end, start))]


def _pair(i: int, j: int) -> Edge:
    return min(i, j), max(i, j)
