"""Small graphs whose nodes have colors, and what message passing can see of them.

`wl_colors` refines colors as Weisfeiler and Lehman do: after L rounds two nodes have the same
color exactly where no message-passing network of depth L can tell them apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

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
        return Data(x=torch.eye(block.size)[list(self.nodes)], edge_index=self._edge_index())

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
