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

`wl_colors` refines colors as Weisfeiler and Lehman do: after L rounds two nodes have the same color
exactly where no message-passing network of depth L can tell them apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations, product
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.arguments import one_of, whole_number
from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import node_rows
from gnninterpreter.isomorphism import GraphNumbers, LabelledGraph, digest
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.spec.encoding import encode

Edge = tuple[int, int]

KINDS = ("cover", "switch")
MOST_DRAWN = 256
MOST_NODES = 60


@dataclass(frozen=True)
class ColoredGraph(LabelledGraph):
    """A graph with a color for each node, counted from 0, and one for each edge, or 0 for all.

    Each edge is there once, in increasing order, the smaller end first unless it is directed.
    """

    nodes: Sequence[int]
    edges: Mapping[Edge, int]

    @classmethod
    def make(
        cls,
        colors: Iterable[int],
        edges: Sequence[Edge],
        kinds: Iterable[int] | None = None,
        directed: bool = False,
    ) -> ColoredGraph:
        """Bring the edges into order; of two edges between the same ends the first stays."""
        placed: dict[Edge, int] = {}
        for (u, v), kind in zip(edges, kinds or [0] * len(edges), strict=True):
            placed.setdefault((u, v) if directed else (min(u, v), max(u, v)), kind)
        return cls(tuple(colors), dict(sorted(placed.items())), directed)

    @classmethod
    def from_data(cls, data: Data, directed: bool = False) -> ColoredGraph:
        """Color the nodes and edges of any graph by their features: equal rows, equal colors.

        Loops are left out.
        """
        rows, ends = data.get("edge_attr"), data.edge_index
        kept = ends[0] != ends[1]
        pairs = [(u, v) for u, v in ends[:, kept].t().tolist()]
        kinds = [0] * ends.size(1) if rows is None else _numbered(rows)
        own = [kind for kind, fine in zip(kinds, kept.tolist(), strict=True) if fine]
        return cls.make(_numbered(node_rows(data)), pairs, own, directed)

    def surroundings(self) -> list[list[tuple[int, int, int]]]:
        """Of each node: its neighbors, the colors of the edges, and their directions (0 or 1)."""
        found: list[list[tuple[int, int, int]]] = [[] for _ in self.nodes]
        for (u, v), kind in self.edges.items():
            found[u].append((v, kind, 0))
            found[v].append((u, kind, int(self.directed)))
        return found

    def connected(self) -> bool:
        """Whether it is in one piece, directions aside."""
        graph = nx.Graph(list(self.edges))
        return len(graph) == len(self.nodes) and bool(nx.is_connected(graph))

    def to_data(self, spec: GraphSpec) -> Data:
        """The same as a graph for a model whose nodes have one categorical feature."""
        block = spec.nodes[0]
        if len(spec.nodes) != 1 or spec.edges or not isinstance(block, Categorical):
            raise SpecError("a colored graph fits only a spec with one categorical node feature")
        if max(self.nodes) >= block.size:
            raise SpecError(f"color {max(self.nodes)} is not among the {block.size} categories")
        x = encode(torch.eye(block.size)[list(self.nodes)], spec.nodes)
        return Data(x=x, edge_index=self._edge_index())

    def to_data_like(self, data: Data) -> Data:
        """The same with the features that those colors stand for in the graph they came from."""
        nodes = node_rows(data)
        first = _places(nodes)
        x = nodes[[first[color] for color in self.nodes]]
        made = Data(x=x, edge_index=self._edge_index(), num_nodes=len(self.nodes))
        rows = data.get("edge_attr")
        if rows is not None:
            places = _places(rows)
            once = rows[[places[kind] for kind in self.edges.values()]]
            made.edge_attr = once if self.directed else torch.cat([once, once])
            if data.get("edge_type") is not None:
                made.edge_type = made.edge_attr.reshape(-1)
        return made

    def _edge_index(self) -> Tensor:
        forth = torch.tensor(list(self.edges), dtype=torch.long).reshape(-1, 2).t()
        return forth if self.directed else torch.cat([forth, forth.flip(0)], dim=1)


def wl_colors(graph: ColoredGraph, rounds: int) -> list[Hashable]:
    """Colors of the nodes after some rounds of refinement, comparable between graphs."""
    around = graph.surroundings()
    colors: list[Hashable] = list(graph.nodes)
    for _ in range(rounds):
        # A digest stands for the tree below a node, which itself would grow with every round.
        colors = [
            digest((colors[node], sorted(repr((colors[n], k, d)) for n, k, d in others)))
            for node, others in enumerate(around)
        ]
    return colors


def _numbered(rows: Tensor) -> list[int]:
    """The same number for equal rows, in the order in which they first come."""
    seen: dict[tuple[float, ...], int] = {}
    return [seen.setdefault(tuple(r), len(seen)) for r in rows.reshape(len(rows), -1).tolist()]


def _places(rows: Tensor) -> list[int]:
    """For each number of `_numbered` the first row that has it."""
    first: dict[int, int] = {}
    for place, number in enumerate(_numbered(rows)):
        first.setdefault(number, place)
    return list(first.values())


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
