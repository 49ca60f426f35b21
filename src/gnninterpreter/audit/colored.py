"""Small graphs whose nodes have colors, and what message passing can see of them.

`wl_colors` refines colors as Weisfeiler and Lehman do: after L rounds two nodes have the same
color exactly where no message-passing network of depth L can tell them apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import node_rows
from gnninterpreter.isomorphism import LabelledGraph, digest
from gnninterpreter.spec import Categorical, GraphSpec

Edge = tuple[int, int]


@dataclass(frozen=True)
class ColoredGraph:
    """A graph with a color for each node, counted from 0, and maybe one for each edge.

    Each edge is there once, in increasing order, the smaller end first unless it is directed.
    """

    colors: tuple[int, ...]
    edges: tuple[Edge, ...]
    edge_colors: tuple[int, ...] = ()
    directed: bool = False

    @classmethod
    def of(
        cls,
        colors: Sequence[int],
        edges: Sequence[Edge],
        edge_colors: Sequence[int] | None = None,
        directed: bool = False,
    ) -> ColoredGraph:
        """Bring the edges into order; of two edges between the same ends the first stays."""
        kinds = edge_colors or [0] * len(edges)
        placed: dict[Edge, int] = {}
        for (u, v), kind in zip(edges, kinds, strict=True):
            placed.setdefault((u, v) if directed else (min(u, v), max(u, v)), kind)
        pairs = tuple(sorted(placed))
        own = tuple(placed[pair] for pair in pairs) if edge_colors else ()
        return cls(tuple(colors), pairs, own, directed)

    @classmethod
    def from_data(cls, data: Data, directed: bool = False) -> ColoredGraph:
        """Color the nodes and edges of any graph by their features: equal rows, equal colors.

        Loops are left out.
        """
        rows, ends = data.get("edge_attr"), data.edge_index
        kept = ends[0] != ends[1]
        pairs = [(u, v) for u, v in ends[:, kept].t().tolist()]
        kinds = None if rows is None else _numbered(rows)
        own = kinds and [kind for kind, fine in zip(kinds, kept.tolist(), strict=True) if fine]
        return cls.of(_numbered(node_rows(data)), pairs, own, directed)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.colors)

    @property
    def kinds(self) -> tuple[int, ...]:
        """Color of each edge, 0 where edges have none."""
        return self.edge_colors or (0,) * len(self.edges)

    def surroundings(self) -> list[list[tuple[int, int, int]]]:
        """Of each node: its neighbors, the colors of the edges, and their directions (0 or 1)."""
        found: list[list[tuple[int, int, int]]] = [[] for _ in self.colors]
        for (u, v), kind in zip(self.edges, self.kinds, strict=True):
            found[u].append((v, kind, 0))
            found[v].append((u, kind, int(self.directed)))
        return found

    def to_networkx(self) -> Any:
        """The same with the color as attribute ``color`` of each node and edge."""
        graph = nx.DiGraph() if self.directed else nx.Graph()
        graph.add_nodes_from((node, {"color": color}) for node, color in enumerate(self.colors))
        graph.add_edges_from(
            (u, v, {"color": kind}) for (u, v), kind in zip(self.edges, self.kinds, strict=True)
        )
        return graph

    def connected(self) -> bool:
        """Whether it is in one piece, directions aside."""
        graph = nx.Graph(self.edges)
        return len(graph) == self.num_nodes and bool(nx.is_connected(graph))

    def to_data(self, spec: GraphSpec) -> Data:
        """The same as a graph for a model whose nodes have one categorical feature."""
        block = spec.nodes[0]
        if len(spec.nodes) != 1 or spec.edges or not isinstance(block, Categorical):
            raise SpecError("a colored graph fits only a spec with one categorical node feature")
        if max(self.colors) >= block.size:
            raise SpecError(f"color {max(self.colors)} is not among the {block.size} categories")
        return Data(x=torch.eye(block.size)[list(self.colors)], edge_index=self._edge_index())

    def to_data_like(self, data: Data) -> Data:
        """The same with the features that those colors stand for in the graph they came from."""
        nodes = node_rows(data)
        first = _places(nodes)
        x = nodes[[first[color] for color in self.colors]]
        made = Data(x=x, edge_index=self._edge_index(), num_nodes=self.num_nodes)
        rows = data.get("edge_attr")
        if rows is not None:
            places = _places(rows)
            once = rows[[places[kind] for kind in self.kinds]]
            made.edge_attr = once if self.directed else torch.cat([once, once])
            if data.get("edge_type") is not None:
                made.edge_type = made.edge_attr.reshape(-1)
        return made

    def _edge_index(self) -> Tensor:
        forth = torch.tensor(self.edges, dtype=torch.long).reshape(-1, 2).t()
        return forth if self.directed else torch.cat([forth, forth.flip(0)], dim=1)

    def isomorphic(self, other: ColoredGraph) -> bool:
        """Whether renumbering the nodes makes one the other, colors kept."""
        return self.labelled.same(other.labelled)

    @cached_property
    def labelled(self) -> LabelledGraph:
        """The same for comparing it with others."""
        edges = dict(zip(self.edges, self.kinds, strict=True))
        return LabelledGraph(self.colors, edges, self.directed)


def wl_colors(graph: ColoredGraph, rounds: int) -> list[Hashable]:
    """Colors of the nodes after some rounds of refinement, comparable between graphs."""
    around = graph.surroundings()
    colors: list[Hashable] = list(graph.colors)
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
