"""Edges by kind, with the kinds of both ends: which of them no real graph holds.

Each atom of a chain of three oxygens is usual by itself, and where kinds are many, what is usual is
learned of single nodes and edges alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from torch_geometric.data import Data

from gnninterpreter.evidence.patterns.choices import kinds_of
from gnninterpreter.evidence.patterns.typed import Typed, typed_graphs
from gnninterpreter.spec import GraphSpec

# Real graphs that may hold an edge which no other does: where more do, one more is nothing odd.
MOST_ALONE = 0.1

Link = tuple[int, int, int]


@dataclass(frozen=True)
class KnownLinks:
    """The kinds of edges with their ends that real graphs hold.

    Args:
        held: How many graphs hold each.
        graphs: How many graphs there are.
        alone: Share of them that hold one which no other graph does.
    """

    held: Counter[Link]
    graphs: int
    alone: float

    @classmethod
    def of(cls, graphs: Sequence[Typed]) -> KnownLinks:
        """Count them."""
        each = [set(_links(graph)) for graph in graphs]
        held = Counter(link for own in each for link in own)
        alone = sum(any(held[link] == 1 for link in own) for own in each)
        return cls(held, len(each), alone / max(1, len(each)))

    def unseen(self, graph: Data, spec: GraphSpec) -> tuple[int, int] | None:
        """The ends of an edge of a kind that no real graph holds, if that would be odd."""
        if self.alone > MOST_ALONE:
            return None
        found = _links(typed_graphs([graph.cpu()], spec)[0])
        return next((ends for link, ends in found.items() if link not in self.held), None)


def _links(graph: Typed) -> dict[Link, tuple[int, int]]:
    """Each kind of edge with the kinds of its ends, and one such edge."""
    found, kinds = {}, kinds_of(graph)
    for ends, kind in graph.edges.items():
        first, second = (kinds[end] for end in ends)
        if not graph.directed and second < first:
            first, second = second, first
        found[first, kind, second] = ends
    return found
