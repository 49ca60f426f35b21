"""When two graphs are the same: renumbering the nodes of one makes it the other, features kept.

Categories must be equal and numbers close. A key that no renumbering changes tells most graphs
apart; where keys are equal, a search for the renumbering decides.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.graphs import node_rows
from gnninterpreter.spec import Block, Categorical, GraphSpec
from gnninterpreter.spec.encoding import rows_of

__all__ = [
    "GraphNumbers",
    "LabelledGraph",
    "digest",
    "distinct",
    "graph_key",
    "most_alike",
    "same_graph",
]

TOLERANCE = 0.01
ROUNDS = 4
LONGEST_WALK = 9
# The search takes long on large graphs that are alike everywhere; keys nearly always decide them.
EXACT_NODES = 24
# Graphs among which those that are most alike are looked for.
LOOKED_AT = 60

Row = tuple[float, ...]


@dataclass(frozen=True)
class LabelledGraph:
    """A graph as far as being the same is concerned.

    Labels of nodes and of edges (source, target), an undirected one with the smaller end first, and
    their continuous features.
    """

    nodes: Sequence[Hashable]
    edges: Mapping[tuple[int, int], Hashable]
    directed: bool = False
    node_numbers: Sequence[Row] = ()
    edge_numbers: Sequence[Row] = ()

    @classmethod
    def of(cls, data: Data, spec: GraphSpec) -> LabelledGraph:
        """Read a discrete graph; an edge that is listed twice counts once."""
        labels, numbers = _split(node_rows(data), spec.nodes)
        pairs = data.edge_index.t().tolist()
        rows = data.get("edge_attr") if spec.edges else None
        found = ([()] * len(pairs), [()] * len(pairs)) if rows is None else _split(rows, spec.edges)
        edges: dict[tuple[int, int], Hashable] = {}
        edge_numbers: list[Row] = []
        for (i, j), label, values in zip(pairs, *found, strict=True):
            key = (i, j) if spec.directed else (min(i, j), max(i, j))
            if key not in edges:
                edges[key] = label
                edge_numbers.append(values)
        return cls(labels, edges, spec.directed, numbers, edge_numbers)

    @cached_property
    def colours(self) -> list[str]:
        """Nodes with different colours play different parts: refined labels and closed walks.

        Refinement (Weisfeiler and Lehman) alone would colour a graph and its covers alike; closed
        walks see cycles. Numbers that wrap round where they grow too large do no harm.
        """
        around: list[list[tuple[str, str, int]]] = [[] for _ in self.nodes]
        matrix = np.zeros((len(self.nodes),) * 2, dtype=np.int64)
        for (u, v), label in self.edges.items():
            told = repr(label)
            around[u].append((told, "to", v))
            around[v].append((told, "from" if self.directed else "to", u))
            weight = int(digest(told)[:8], 16) | 1
            matrix[u, v] += weight
            matrix[v, u] += weight * (1_000_003 if self.directed else 1)
        counts, power = [], matrix
        for _ in range(LONGEST_WALK - 1):
            power = power @ matrix
            counts.append(np.diag(power))
        walks = np.stack(counts, axis=1).tolist()
        colours = [digest((label, row)) for label, row in zip(self.nodes, walks, strict=True)]
        for _ in range(ROUNDS):
            colours = [
                digest((own, sorted((told, way, colours[n]) for told, way, n in others)))
                for own, others in zip(colours, around, strict=True)
            ]
        return colours

    @cached_property
    def key(self) -> str:
        """Equal for graphs that are the same, and hardly ever for others."""
        return digest((self.directed, len(self.edges), sorted(self.colours)))

    def same(self, other: LabelledGraph) -> bool:
        """Whether renumbering makes one the other; keys decide on large ones without numbers."""
        if self.key != other.key:
            return False
        if len(self.nodes) > EXACT_NODES and not any((*self.node_numbers, *self.edge_numbers)):
            return True
        one, two = self._drawn(), other._drawn()
        return bool(nx.is_isomorphic(one, two, node_match=_match, edge_match=_match))

    def _drawn(self) -> Any:
        graph = nx.DiGraph() if self.directed else nx.Graph()
        for node, colour in enumerate(self.colours):
            numbers = self.node_numbers[node] if self.node_numbers else ()
            graph.add_node(node, label=colour, numbers=numbers)
        for place, ((u, v), label) in enumerate(self.edges.items()):
            numbers = self.edge_numbers[place] if self.edge_numbers else ()
            graph.add_edge(u, v, label=label, numbers=numbers)
        return graph


@dataclass
class GraphNumbers:
    """Numbers graphs as they come: the same graph gets the same number, a new one the next."""

    count: int = 0
    _alike: dict[str, list[tuple[LabelledGraph, int]]] = field(default_factory=dict, repr=False)
    _known: dict[tuple[bytes, ...], int] = field(default_factory=dict, repr=False)

    def of(self, data: Data, spec: GraphSpec) -> int:
        """Return the number of a graph of a spec, always the same one."""
        # Samples of a sharp distribution repeat to the letter, which is cheaper to see.
        letters = tuple(
            part.numpy(force=True).tobytes()
            for part in (node_rows(data), data.edge_index, data.get("edge_attr"))
            if part is not None
        )
        if letters not in self._known:
            self._known[letters] = self.add(LabelledGraph.of(data, spec))
        return self._known[letters]

    def add(self, graph: LabelledGraph) -> int:
        """Return the number of a labelled graph."""
        alike = self._alike.setdefault(graph.key, [])
        for other, number in alike:
            if graph.same(other):
                return number
        alike.append((graph, self.count))
        self.count += 1
        return self.count - 1


def graph_key(data: Data, spec: GraphSpec) -> str:
    """A text that is equal for the same graph, however its nodes are numbered."""
    return LabelledGraph.of(data, spec).key


def same_graph(one: Data, other: Data, spec: GraphSpec) -> bool:
    """Whether two graphs are the same up to the numbering of their nodes, features included."""
    return LabelledGraph.of(one, spec).same(LabelledGraph.of(other, spec))


def distinct(graphs: Iterable[Data], spec: GraphSpec) -> list[list[int]]:
    """Put graphs that are the same into groups of places, ordered by their first ones."""
    numbers = GraphNumbers()
    groups: dict[int, list[int]] = {}
    for place, data in enumerate(graphs):
        groups.setdefault(numbers.of(data, spec), []).append(place)
    return list(groups.values())


def most_alike(graphs: Sequence[Data], alike: Tensor, count: int, spec: GraphSpec) -> list[int]:
    """Places of the graphs that are most alike by a number for each, the same graph only once.

    Small graphs can be in a data set again and again; of the first `LOOKED_AT` they are found.
    """
    near = alike.topk(min(LOOKED_AT, len(graphs))).indices.tolist()
    same = distinct((graphs[place] for place in near), spec)
    return [near[places[0]] for places in same[:count]]


def _split(rows: Tensor, blocks: Sequence[Block]) -> tuple[list[Hashable], list[Row]]:
    """The categories of each row, and its numbers."""
    named = [i for i, block in enumerate(blocks) if isinstance(block, Categorical)]
    free = [i for i, b in enumerate(blocks) if not (isinstance(b, Categorical) or b.constant)]
    cells = rows_of(rows, blocks)
    labels: list[Hashable] = [tuple(row[i] for i in named) for row in cells]
    return labels, [tuple(number for i in free for number in row[i]) for row in cells]


def _match(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one["label"] == other["label"] and all(
        math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        for a, b in zip(one["numbers"], other["numbers"], strict=True)
    )


def digest(value: object) -> str:
    """A short hash of what a value is written as."""
    return hashlib.blake2b(repr(value).encode(), digest_size=12).hexdigest()
