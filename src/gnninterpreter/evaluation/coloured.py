"""Small graphs whose nodes have colours, and what message passing can see of them.

`wl_colours` refines colours as Weisfeiler and Lehman do: after L rounds two nodes have the same
colour exactly where no message-passing network of depth L can tell them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import networkx as nx
import torch
from torch_geometric.data import Data

from gnninterpreter.errors import SpecError
from gnninterpreter.spec import Categorical, GraphSpec

__all__ = ["ColouredGraph", "coloured_degrees", "rounds_alike", "wl_colours"]

Edge = tuple[int, int]


@dataclass(frozen=True)
class ColouredGraph:
    """An undirected graph with one colour for each node.

    Args:
        colors: Colour of each node, counted from 0.
        edges: Each edge once, the smaller end first, in increasing order.
    """

    colors: tuple[int, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, colors: Sequence[int], edges: Sequence[Edge]) -> ColouredGraph:
        """Bring the edges into order."""
        return cls(tuple(colors), tuple(sorted((min(edge), max(edge)) for edge in set(edges))))

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.colors)

    def neighbours(self) -> list[list[int]]:
        """Neighbours of each node."""
        found: list[list[int]] = [[] for _ in self.colors]
        for u, v in self.edges:
            found[u].append(v)
            found[v].append(u)
        return found

    def to_networkx(self) -> nx.Graph:
        """The same with the colour as attribute ``color`` of each node."""
        graph = nx.Graph()
        graph.add_nodes_from((node, {"color": color}) for node, color in enumerate(self.colors))
        graph.add_edges_from(self.edges)
        return graph

    def to_data(self, spec: GraphSpec) -> Data:
        """The same as a graph for a model whose nodes have one categorical feature.

        Raises:
            SpecError: If the spec has other features, or too few categories.
        """
        block = spec.nodes[0]
        if len(spec.nodes) != 1 or spec.edges or not isinstance(block, Categorical):
            raise SpecError("a coloured graph fits only a spec with one categorical node feature")
        if max(self.colors) >= block.size:
            raise SpecError(f"colour {max(self.colors)} is not among the {block.size} categories")
        forth = torch.tensor(self.edges, dtype=torch.long).reshape(-1, 2).t()
        x = torch.eye(block.size)[list(self.colors)]
        return Data(x=x, edge_index=torch.cat([forth, forth.flip(0)], dim=1))

    def isomorphic(self, other: ColouredGraph) -> bool:
        """Whether renumbering the nodes makes one the other, colours kept."""
        return bool(
            nx.is_isomorphic(
                self.to_networkx(),
                other.to_networkx(),
                node_match=lambda a, b: a["color"] == b["color"],
            )
        )


def coloured_degrees(graph: ColouredGraph) -> list[tuple[int, tuple[int, ...]]]:
    """Colour of each node with the sorted colours of its neighbours."""
    return [
        (graph.colors[node], tuple(sorted(graph.colors[other] for other in others)))
        for node, others in enumerate(graph.neighbours())
    ]


def wl_colours(graph: ColouredGraph, rounds: int) -> list[Hashable]:
    """Colours of the nodes after some rounds of refinement, as nested tuples.

    Args:
        graph: The graph.
        rounds: Number of rounds L; none gives the colours themselves.
    """
    neighbours = graph.neighbours()
    colours: list[Hashable] = list(graph.colors)
    for _ in range(rounds):
        colours = [
            (colours[node], tuple(sorted((colours[other] for other in others), key=repr)))
            for node, others in enumerate(neighbours)
        ]
    return colours


def rounds_alike(one: ColouredGraph, other: ColouredGraph, most: int = 5) -> int | None:
    """After how many rounds the two still have every colour in the same proportion.

    Proportions rather than numbers, since mean pooling sees no more.

    Returns:
        The last such number of rounds, ``most`` if they agree throughout, None if even the given
        colours differ.
    """
    alike = None
    for rounds in range(most + 1):
        if _shares(wl_colours(one, rounds)) != _shares(wl_colours(other, rounds)):
            break
        alike = rounds
    return alike


def _shares(colours: Sequence[Hashable]) -> dict[Hashable, float]:
    return {colour: count / len(colours) for colour, count in Counter(colours).items()}
