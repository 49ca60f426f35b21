"""A graph reduced to what patterns are matched by: kinds of nodes, kinds of edges, neighbours.

The first step from real graphs to cores. All categories of a node together that the model reads are
its kind, likewise for edges; constants say nothing and are left out. Sets of nodes are the bits of
an integer, which makes the matching fast without a compiled library. The kind of a pattern's node
may be open: then any will do. Numbers of nodes and edges count where a pattern has a range for
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import chain
from operator import or_

import networkx as nx
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.datasets.base import fields_of, sizes_of
from gnninterpreter.graphs import table
from gnninterpreter.spec import Block, Categorical, Continuous, GraphSpec
from gnninterpreter.spec.derived import columns
from gnninterpreter.spec.encoding import categories

Kind = int | tuple[tuple[int, int, int], ...]
"""All categories of a node as a number, or digits of it that count (see `choices`)."""
Need = tuple[Kind, int, Kind, int]
ROUNDS = 4
ANY = -1
# In place of the kind of a neighbour: any that needs as many neighbours itself; any with which so
# many neighbours are shared as the code of the link says instead.
NESTED, SHARING = -2, -3


@dataclass(frozen=True)
class Range:
    """Where a number of a node or an edge of a pattern has to lie.

    Args:
        nodes: The node, or both ends of the edge, the smaller one first unless it is directed.
        column: Which of the numbers, counted over all that vary.
        low: The least it may be; None where there is no limit.
        high: The most.
    """

    nodes: tuple[int, ...]
    column: int
    low: float | None = None
    high: float | None = None

    def holds(self, values: Sequence[float]) -> bool:
        """Whether the numbers of a node or an edge fit."""
        value = values[self.column]
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


@dataclass(frozen=True)
class Typed:
    """A graph of kinds.

    Args:
        kinds: Kind of each node; `ANY` where it is open, digits where some of it is.
        edges: Kind of each edge by its ends; an undirected edge has its smaller end first.
        directed: Whether (i, j) and (j, i) are different edges.
        values: Numbers of each node that vary; empty where there are none.
        edge_values: The same of each edge.
        ranges: Where numbers of a pattern have to lie; those without one may be any.
    """

    kinds: tuple[Kind, ...]
    edges: dict[tuple[int, int], int]
    directed: bool = False
    values: tuple[tuple[float, ...], ...] = ()
    edge_values: dict[tuple[int, int], tuple[float, ...]] = field(default_factory=dict)
    ranges: tuple[Range, ...] = ()

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def linked(self) -> dict[int, list[int]]:
        """For each code of a link the neighbours that each node has by such links, as bits.

        An undirected edge of kind k has code 2k at both ends, a directed one 2k where it leaves and
        2k + 1 where it arrives.
        """
        found: dict[int, list[int]] = {}
        for kind in set(self.edges.values()):
            there = found[2 * kind] = [0] * len(self)
            found[2 * kind + self.directed] = [0] * len(self) if self.directed else there
        for (i, j), kind in self.edges.items():
            found[2 * kind][i] |= 1 << j
            found[2 * kind + self.directed][j] |= 1 << i
        return found

    @cached_property
    def links(self) -> tuple[dict[int, int], ...]:
        """The same for each node: its neighbours by the codes of its links."""
        return tuple(
            {code: rows[node] for code, rows in self.linked.items() if rows[node]}
            for node in range(len(self))
        )

    @cached_property
    def near(self) -> tuple[int, ...]:
        """Neighbours of each node as bits, directions aside."""
        nowhere = [0] * len(self)
        return tuple(reduce(or_, own) for own in zip(nowhere, *self.linked.values(), strict=True))

    @property
    def whole(self) -> int:
        """All nodes, as bits."""
        return (1 << len(self)) - 1

    def around(self, nodes: int) -> int:
        """The neighbours of some nodes (all as bits)."""
        found = 0
        for node in bits(nodes):
            found |= self.near[node]
        return found

    @cached_property
    def shared(self) -> list[int]:
        """How many neighbours the two ends of each edge share."""
        near = self.near
        return [(near[i] & near[j]).bit_count() for i, j in self.edges]

    def pieces(self) -> list[int]:
        """The nodes (as bits) of each of its pieces."""
        left, found = self.whole, []
        while left:
            found.append(self.reach(left & -left, left))
            left &= ~found[-1]
        return found

    def needs(self, node: int) -> list[Need]:
        """What a node of another graph must have to take the place of this one.

        Each is (kind, code of a link, kind of the neighbour, at least so many); the first,
        (kind, -1, -1, 0), says its kind alone.
        """
        most: dict[tuple[int, Kind], int] = {}
        for code, mask in self.links[node].items():
            for other in bits(mask):
                key = (code, self.kinds[other])
                most[key] = most.get(key, 0) + 1
            if (code, ANY) in most:
                most[code, ANY] = mask.bit_count()
        kind = self.kinds[node]
        return [(kind, -1, -1, 0)] + [(kind, *key, count) for key, count in most.items()]

    @cached_property
    def knots(self) -> list[list[Need]]:
        """What each node needs to lie on rings and triangles, or in what is denser, as this one."""
        found: list[list[Need]] = [[] for _ in self.kinds]
        for kind in set(self.edges.values()):
            links = [own.get(2 * kind, 0) | own.get(2 * kind + 1, 0) for own in self.links]
            left, least = self.whole, 2
            while left:
                few = [i for i in bits(left) if (links[i] & left).bit_count() < least]
                left &= ~as_bits(few)
                if not few:
                    for i in bits(left):
                        found[i].append((ANY, 2 * kind, NESTED, least))
                    least += 1
        # Kinds rule out as much at less cost.
        for least in set(self.shared) - {0} if len(set(self.kinds)) == 1 else ():
            sharing = [
                ends for ends, each in zip(self.edges, self.shared, strict=True) if each >= least
            ]
            for i, count in Counter(chain.from_iterable(sharing)).items():
                found[i].append((ANY, least, SHARING, count))
        return found

    @cached_property
    def before(self) -> list[int]:
        """Of each node (as bits) the last one before it that it could change places with, or 0.

        Such twins have the same kind and the same links to all others.
        """
        latest: dict[object, int] = {}
        found = [0] * len(self)
        for node, own in enumerate(self.links):
            looks: list[object] = [(self.kinds[node], *sorted(own.items()))]
            if not self.directed:  # linked to each other, they are as if linked to themselves
                looks += [
                    (self.kinds[node], code, *sorted({**own, code: mask | 1 << node}.items()))
                    for code, mask in own.items()
                ]
            for look in looks:
                found[node] |= latest.get(look, 0)
                latest[look] = 1 << node
        return found

    @cached_property
    def behind(self) -> int:
        """The nodes (as bits) that have a twin before them."""
        return as_bits(node for node, twin in enumerate(self.before) if twin)

    @property
    def open(self) -> tuple[bool, ...]:
        """Which kinds are open; empty where none is."""
        found = tuple(kind == ANY for kind in self.kinds)
        return found if any(found) else ()

    def opened(self, nodes: Iterable[int] | None = None) -> Typed:
        """The same with the kinds of some nodes open, or of all."""
        wide = set(range(len(self)) if nodes is None else nodes)
        kinds = tuple(ANY if node in wide else kind for node, kind in enumerate(self.kinds))
        return replace(self, kinds=kinds)

    @cached_property
    def colours(self) -> list[int]:
        """A number for each node, the same for those that refinement cannot tell apart."""
        return self.refined(min(ROUNDS, len(self)))

    def refined(self, rounds: int) -> list[int]:
        """A number for each node, the same where all up to some steps away looks the same."""
        colours = [kind if isinstance(kind, int) else hash(kind) for kind in self.kinds]
        for _ in range(rounds):
            colours = [
                hash((colours[i], *sorted(
                    (code, colours[j]) for code, mask in self.links[i].items() for j in bits(mask)
                )))
                for i in range(len(self))
            ]  # fmt: skip
        return colours

    @cached_property
    def key(self) -> Hashable:
        """The same for graphs that are the same but for the order of their nodes.

        Different graphs share a key only where refinement cannot tell them apart.
        """
        return (len(self), len(self.edges), *sorted(self.colours))

    def same(self, other: Typed) -> bool:
        """Whether renumbering the nodes makes one the other, with the same ranges as they are."""
        if self.key != other.key or self.ranges != other.ranges:
            return False
        if self.kinds == other.kinds and self.edges == other.edges:
            return True
        one, two = self.to_networkx(), other.to_networkx()
        return bool(nx.is_isomorphic(one, two, _equal, _equal))

    def connected(self, nodes: int | None = None) -> bool:
        """Whether the graph, or those of its nodes (as bits), hang together."""
        left = self.whole if nodes is None else nodes
        return bool(left) and self.reach(left & -left, left) == left

    def reach(self, start: int, within: int) -> int:
        """The nodes (as bits) that can be reached from some without leaving others."""
        seen = front = start
        while front:
            front = self.around(front) & within & ~seen
            seen |= front
        return seen

    def part(self, nodes: Sequence[int]) -> Typed:
        """The graph on some of its nodes, in that order, with all edges between them."""
        place = {node: number for number, node in enumerate(nodes)}
        edges, numbers = {}, {}
        for (i, j), kind in self.edges.items():
            if i in place and j in place:
                a, b = place[i], place[j]
                ends = (a, b) if self.directed or a < b else (b, a)
                edges[ends] = kind
                if self.edge_values:
                    numbers[ends] = self.edge_values[i, j]
        values = tuple(self.values[node] for node in nodes) if self.values else ()
        kinds = tuple(self.kinds[node] for node in nodes)
        ranges = []
        for one in self.ranges:
            if all(node in place for node in one.nodes):
                at = tuple(place[node] for node in one.nodes)
                ranges.append(replace(one, nodes=at if self.directed else tuple(sorted(at))))
        return Typed(kinds, edges, self.directed, values, numbers, tuple(ranges))

    def to_networkx(self) -> nx.Graph:
        """The same with ``kind`` as attribute of nodes and edges."""
        graph: nx.Graph = nx.DiGraph() if self.directed else nx.Graph()
        graph.add_nodes_from((node, {"kind": kind}) for node, kind in enumerate(self.kinds))
        graph.add_edges_from((i, j, {"kind": kind}) for (i, j), kind in self.edges.items())
        return graph


def alike(graphs: Sequence[Typed]) -> list[list[int]]:
    """The numbers of graphs that are the same but for the order of their nodes, put together."""
    buckets: dict[object, list[list[int]]] = {}
    for number, graph in enumerate(graphs):
        groups = buckets.setdefault(graph.key, [])
        known = next((group for group in groups if graph.same(graphs[group[0]])), None)
        if known is None:
            groups.append([number])
        else:
            known.append(number)
    return [group for groups in buckets.values() for group in groups]


def bits(mask: int) -> Iterator[int]:
    """The nodes of a set, smallest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def as_bits(nodes: Iterable[int]) -> int:
    """Different nodes as the bits of an integer."""
    return sum(1 << node for node in nodes)


def typed_graphs(graphs: Sequence[Data], spec: GraphSpec) -> list[Typed]:
    """Read the kinds of PyG graphs, and the numbers that vary.

    Args:
        graphs: The graphs.
        spec: Which columns are categories.
    """
    kinds = node_kinds(graphs, spec)
    node_columns, edge_columns = varying_columns(spec.nodes), varying_columns(spec.edges)
    links = [link for link in fields_of(graphs, "edge_index") if link is not None]
    attrs = _edge_rows(graphs) if spec.edges else [None] * len(graphs)
    codes = _kinds(attrs, [link.size(1) for link in links], spec.edges)
    ends = torch.cat(links, dim=1) if links else torch.zeros(2, 0, dtype=torch.long)
    if not spec.directed:
        ends = torch.stack([ends.amin(dim=0), ends.amax(dim=0)])
    pairs = list(zip(*ends.tolist(), strict=True))
    found, start = [], 0
    features = fields_of(graphs, "x") if node_columns else [None] * len(graphs)
    for x, own, coded, attr in zip(features, kinds, codes, attrs, strict=True):
        mine = pairs[start : start + len(coded)]
        start += len(coded)
        edges = dict(zip(mine, coded, strict=True))
        for loop in [pair for pair in edges if pair[0] == pair[1]]:
            del edges[loop]
        rows = () if x is None else _values(x, node_columns)
        numbers = {}
        if edge_columns and attr is not None:
            numbers = dict(zip(mine, _values(attr, edge_columns), strict=True))
        found.append(Typed(tuple(own), edges, spec.directed, rows, numbers))
    return found


def node_kinds(graphs: Sequence[Data], spec: GraphSpec) -> list[list[int]]:
    """The kinds of the nodes of each graph."""
    return _kinds(fields_of(graphs, "x"), sizes_of(graphs), spec.nodes)


def varying_columns(blocks: Sequence[Block]) -> list[int]:
    """Columns of numbers that are read, neither constant nor following from the graph."""
    found, start = [], 0
    for block in blocks:
        if isinstance(block, Continuous):
            read = block.read or (True,) * block.dim
            bounds = zip(block.low, block.high, read, strict=True)  # type: ignore[arg-type]
            found += [
                start + column
                for column, (low, high, known) in enumerate(bounds)
                if known and low < high
            ]
        start += block.width
    return found


def _edge_rows(graphs: Sequence[Data]) -> list[Tensor | None]:
    both = zip(*(fields_of(graphs, key) for key in ("edge_attr", "edge_type")), strict=True)
    return [other if attr is None else attr for attr, other in both]


def _kinds(
    parts: Sequence[Tensor | None], sizes: Sequence[int], blocks: Sequence[Block]
) -> list[list[int]]:
    """One number for all categories of a row that are read, part by part; 0 without rows."""
    known = [table(part) for part in parts if part is not None]
    rows = torch.cat(known) if known else torch.zeros(0, 0)
    code = torch.zeros(rows.size(0), dtype=torch.long)
    for block, part in zip(blocks, columns(rows, blocks), strict=True) if known else ():
        if isinstance(block, Categorical) and block.read:
            code = code * block.size + categories(part, block).cpu()
    kinds, found, end = code.tolist(), [], 0
    for each, size in zip(parts, sizes, strict=True):
        found.append([0] * size if each is None else kinds[end : end + size])
        end += 0 if each is None else size
    return found


def _values(rows: Tensor, columns: Sequence[int]) -> tuple[tuple[float, ...], ...]:
    if not columns:
        return ()
    return tuple(tuple(row) for row in table(rows)[:, list(columns)].tolist())


def _equal(one: dict[str, Kind], other: dict[str, Kind]) -> bool:
    return one["kind"] == other["kind"]
