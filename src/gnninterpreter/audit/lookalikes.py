"""Graphs that a message-passing network can hardly, or not at all, tell from a given motif.

A *k-fold cover* has k copies of every node, joined crosswise, so that each copy sees exactly the
colored neighborhood that its original sees, at every depth; mean pooling over it gives the
embedding of the motif. Covers are enumerated by voltage assignments (Gross and Tucker, 1987):
copies are joined as they stand along a spanning tree, and by every permutation along each other
edge.

A *switch* exchanges the ends of two edges, (a, b) and (c, d) for (a, d) and (c, b). Where a and c,
and b and d, have equal Weisfeiler-Lehman colors after L - 1 rounds, every node keeps its color
after L rounds (by induction over the rounds), so that no network of depth L sees the exchange, with
whatever pooling. At L = 1 that is: the same colored degrees.

Both work with features of edges and with directions. Numbers as features are copied as they are: a
cover of such a graph is one like any other, whereas a switch needs nodes with equal numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice, permutations, product
from typing import Any

import networkx as nx
import numpy as np
from torch_geometric.data import Data

from gnninterpreter.arguments import one_of, whole_number
from gnninterpreter.audit.colored import ColoredGraph, wl_colors
from gnninterpreter.isomorphism import GraphNumbers

Edge = tuple[int, int]

KINDS = ("cover", "switch")
MOST_DRAWN = 256
MOST_NODES = 60


def lookalikes(
    motif: Sequence[Edge] | Data,
    folds: int = 2,
    *,
    kind: str = "cover",
    depth: int = 1,
    limit: int | None = None,
    seed: int = 0,
    directed: bool = False,
) -> list[Any]:
    """Make the connected look-alikes of a motif, one of each colored isomorphism class.

    The motif is a list of edges, whose node i has color i, or a PyG graph, which is colored by its
    features; the look-alikes are colored graphs, those with fewest nodes first, or PyG graphs.

    A ``"cover"`` has ``folds`` copies of each node. A ``"switch"`` has the motif's own size, and up
    to ``depth`` no node sees a change; 1 keeps the colored degrees. Without a limit all are made,
    which takes long for a motif with many cycles; the seed is that of a draw up to it.

    Example:
        >>> complete = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        >>> len(lookalikes(complete, folds=2))
        7
    """
    one_of("kind", kind, KINDS)
    for name, value in (("folds", folds), ("depth", depth), ("limit", limit)):
        if value is not None:
            whole_number(name, value, 1)
    if isinstance(motif, Data):
        graph = ColoredGraph.from_data(motif, directed)
    else:
        size = 1 + max((max(edge) for edge in motif), default=-1)
        graph = ColoredGraph.make(range(size), motif, directed=directed)
    if kind == "switch":
        found = switches(graph, depth, limit, seed)
    else:
        found = covers(graph, folds, limit, seed)
    return [one.to_data_like(motif) for one in found] if isinstance(motif, Data) else found


def covers(
    graph: ColoredGraph, folds: int = 2, limit: int | None = None, seed: int = 0
) -> list[ColoredGraph]:
    """Make the connected k-fold covers of a colored graph; see `lookalikes`."""
    if not graph.edges or (limit is not None and folds * len(graph.nodes) > MOST_NODES):
        return []
    lifted = lifts(graph, folds, limit, seed)
    found = list(islice(distinct_graphs(one for one in lifted if one.connected()), limit))
    return sorted(found, key=lambda one: (len(one.nodes), tuple(one.edges)))


def switches(
    graph: ColoredGraph, depth: int = 1, limit: int | None = None, seed: int = 0
) -> list[ColoredGraph]:
    """Make the other connected graphs that one switch leads to; see `lookalikes`."""
    alike = wl_colors(graph, depth - 1)
    there, kinds = list(graph.edges), list(graph.edges.values())
    pairs = list(combinations(range(len(there)), 2))
    if limit is not None:
        np.random.default_rng(seed).shuffle(pairs)

    def made() -> Iterator[ColoredGraph]:
        yield graph
        for first, second in pairs:
            a, b = there[first]
            ends = [there[second]]
            if not graph.directed:
                ends.append((ends[0][1], ends[0][0]))
            for c, d in ends:
                if len({a, b, c, d}) < 4 or kinds[first] != kinds[second]:
                    continue
                if alike[a] != alike[c] or alike[b] != alike[d]:
                    continue
                new = [(a, d), (c, b)]
                if any(
                    e in graph.edges or (not graph.directed and e[::-1] in graph.edges) for e in new
                ):
                    continue
                edges = list(there)
                edges[first], edges[second] = new
                one = ColoredGraph.make(graph.nodes, edges, kinds, graph.directed)
                if one.connected():
                    yield one

    return list(islice(distinct_graphs(made()), 1, None if limit is None else limit + 1))


def lifts(
    graph: ColoredGraph, folds: int, limit: int | None = None, seed: int = 0
) -> Iterator[ColoredGraph]:
    """Yield the k-fold covers, in one piece or not; copy i of node j has number j * folds + i."""
    base = nx.empty_graph(len(graph.nodes))
    for number, edge in reversed(list(enumerate(graph.edges))):
        base.add_edge(*edge, number=number)  # of two edges there and back the first stays
    tree = {base.edges[edge]["number"] for edge in nx.minimum_spanning_edges(base, data=False)}
    others = [number for number in range(len(graph.edges)) if number not in tree]
    ways = list(permutations(range(folds)))
    colors = [color for color in graph.nodes for _ in range(folds)]
    kinds = [kind for kind in graph.edges.values() for _ in range(folds)]
    for assignment in _assignments(len(others), len(ways), limit, seed):
        matching = {number: ways[way] for number, way in zip(others, assignment, strict=True)}
        edges = [
            (u * folds + i, v * folds + matching.get(number, ways[0])[i])
            for number, (u, v) in enumerate(graph.edges)
            for i in range(folds)
        ]
        yield ColoredGraph.make(colors, edges, kinds, graph.directed)


def _assignments(free: int, ways: int, limit: int | None, seed: int) -> Iterable[tuple[int, ...]]:
    if limit is None or ways**free <= MOST_DRAWN:
        return product(range(ways), repeat=free)
    # Single crossings are the mildest covers, and a draw would miss most of them.
    single = [tuple(int(e == f) for e in range(free)) for f in range(free)]
    drawn = np.random.default_rng(seed).integers(ways, size=(MOST_DRAWN, free))
    return [*single, *(tuple(row) for row in drawn.tolist())]


def distinct_graphs(graphs: Iterable[ColoredGraph]) -> Iterator[ColoredGraph]:
    """Leave out what is another one before it with its nodes renumbered."""
    numbers = GraphNumbers()
    for graph in graphs:
        known = numbers.count
        if numbers.add(graph) == known:
            yield graph
