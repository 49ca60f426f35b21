"""Look-alikes in which one node of the motif is free to see anything, such as House-X's purple."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

from gnninterpreter.audit.colored import ColoredGraph
from gnninterpreter.errors import SpecError

__all__ = ["with_free_node"]

Groups = list[list[int]]


def with_free_node(
    lifted: ColoredGraph, motif: ColoredGraph, free: int, rule: str, folds: int
) -> Iterator[ColoredGraph]:
    """Add the copies of the free node to a lift of the others, in every way that a rule allows.

    Args:
        lifted: A lift of the motif without the free node; copy i of its j-th node has number
            j * folds + i.
        motif: The motif.
        free: Its free node.
        rule: ``"cover"``, ``"hub"`` or ``"any"``, as for `lookalikes`.
        folds: Number of copies.

    Raises:
        SpecError: If edges have colors or directions, which a partition could not keep.
    """
    if motif.edge_colors or motif.directed:
        raise SpecError("free= is only for motifs whose edges have neither features nor directions")
    bound = [node for node in range(motif.num_nodes) if node != free]
    hanging = sorted(u if v == free else v for u, v in motif.edges if free in (u, v))
    stubs = [bound.index(node) * folds + i for node in hanging for i in range(folds)]
    if rule == "hub":
        groupings: Iterator[Groups] = iter([[stubs]])
    elif rule == "cover":
        groupings = _transversals(stubs, folds)
    else:
        groupings = _partitions(stubs)
    first = lifted.num_nodes
    for groups in groupings:
        joined = [(stub, first + g) for g, group in enumerate(groups) for stub in group]
        colors = [*lifted.colors, *([motif.colors[free]] * len(groups))]
        yield ColoredGraph.of(colors, [*lifted.edges, *joined])


def _transversals(stubs: Sequence[int], folds: int) -> Iterator[Groups]:
    """Group the stubs so that each group has one of each color."""
    columns = [stubs[start : start + folds] for start in range(0, len(stubs), folds)]
    for orders in product(list(permutations(range(folds))), repeat=len(columns) - 1):
        rest = list(zip(columns[1:], orders, strict=True))
        yield [[columns[0][i], *(column[order[i]] for column, order in rest)] for i in range(folds)]


def _partitions(items: Sequence[int]) -> Iterator[Groups]:
    """Yield every partition into non-empty groups."""
    if not items:
        yield []
        return
    for smaller in _partitions(items[1:]):
        yield [[items[0]], *smaller]
        for index in range(len(smaller)):
            yield [*smaller[:index], [items[0], *smaller[index]], *smaller[index + 1 :]]
