"""Graphs that a message-passing network can hardly, or not at all, tell from a given motif.

In a k-fold cover of a motif every node sees exactly the coloured neighbourhood that its original
sees, at every depth, so that mean pooling over the cover gives the same embedding as over the
motif. Covers are enumerated by voltage assignments (Gross and Tucker, 1987): copies of the nodes
are joined as they stand along a spanning tree, and by every permutation along each other edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

import networkx as nx
import numpy as np

from gnninterpreter.errors import SpecError
from gnninterpreter.evaluation.coloured import ColouredGraph

__all__ = ["RULES", "lookalikes"]

Edge = tuple[int, int]

RULES = ("cover", "hub", "any")
LONGEST_WALK = 9


def lookalikes(
    motif: Sequence[Edge], folds: int = 2, *, free: int | None = None, rule: str = "cover"
) -> list[ColouredGraph]:
    """Enumerate the connected k-fold lookalikes of a motif, one of each coloured isomorphism class.

    Args:
        motif: Edges of the motif, whose node i has colour i.
        folds: How many copies k of each node.

    Keyword Args:
        free: A node whose own neighbourhood nothing constrains: only the others must see what they
            see in the motif. For House-X that is purple.
        rule: How copies of the free node take their neighbours: ``"cover"``: each has what the
            original has; ``"hub"``: there is only one, joined to all; ``"any"``: every partition.

    Returns:
        The graphs, those with fewest nodes first. Complete-4 has 1, 7 and 41 covers of 1, 2 and 3
        folds; House-X with purple free has at 2 folds 15 by cover, 8 by hub and 85 by any.

    Raises:
        SpecError: If the arguments do not fit together.

    Example:
        >>> complete = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        >>> len(lookalikes(complete, folds=2))
        7
    """
    if rule not in RULES:
        raise SpecError(f"rule must be one of {', '.join(RULES)} (got {rule!r})")
    if folds < 1:
        raise SpecError(f"folds must be at least 1 (got {folds})")
    if rule != "cover" and free is None:
        raise SpecError(f"rule {rule!r} is about a free node; name it with free=")
    edges = [(min(edge), max(edge)) for edge in motif]
    size = 1 + max(v for _, v in edges)
    bound = [node for node in range(size) if node != free]
    fixed = [edge for edge in edges if free not in edge]
    hanging = sorted(u if v == free else v for u, v in edges if free in (u, v))
    buckets: dict[tuple[object, ...], list[ColouredGraph]] = {}
    for lifted in _lifts(bound, fixed, folds):
        for graph in _with_free(lifted, bound, hanging, free, rule, folds):
            if not nx.is_connected(graph.to_networkx()):
                continue
            alike = buckets.setdefault(_walks(graph), [])
            if not any(graph.isomorphic(other) for other in alike):
                alike.append(graph)
    found = [graph for bucket in buckets.values() for graph in bucket]
    return sorted(found, key=lambda graph: (graph.num_nodes, graph.edges))


def _lifts(nodes: Sequence[int], edges: Sequence[Edge], folds: int) -> Iterator[list[Edge]]:
    """Yield the edges of each lift; copy i of the j-th node has number j * folds + i."""
    place = {node: index for index, node in enumerate(nodes)}
    base = nx.Graph()
    base.add_nodes_from(nodes)
    base.add_edges_from(edges)
    tree = {(min(edge), max(edge)) for edge in nx.minimum_spanning_edges(base, data=False)}
    others = [edge for edge in edges if edge not in tree]
    straight = tuple(range(folds))
    for chosen in product(list(permutations(straight)), repeat=len(others)):
        matching = dict(zip(others, chosen, strict=True))
        yield [
            (place[u] * folds + i, place[v] * folds + matching.get((u, v), straight)[i])
            for u, v in edges
            for i in range(folds)
        ]


def _with_free(
    lifted: list[Edge],
    bound: Sequence[int],
    hanging: Sequence[int],
    free: int | None,
    rule: str,
    folds: int,
) -> Iterator[ColouredGraph]:
    """Add the copies of the free node in every way the rule allows."""
    colors = [node for node in bound for _ in range(folds)]
    if free is None:
        yield ColouredGraph.of(colors, lifted)
        return
    stubs = [bound.index(node) * folds + i for node in hanging for i in range(folds)]
    if rule == "hub":
        groupings: Iterator[list[list[int]]] = iter([[stubs]])
    elif rule == "cover":
        groupings = _transversals(stubs, folds)
    else:
        groupings = _partitions(stubs)
    for groups in groupings:
        first = len(colors)
        joined = [(stub, first + g) for g, group in enumerate(groups) for stub in group]
        yield ColouredGraph.of([*colors, *([free] * len(groups))], [*lifted, *joined])


def _transversals(stubs: Sequence[int], folds: int) -> Iterator[list[list[int]]]:
    """Group the stubs so that each group has one of each colour."""
    columns = [stubs[start : start + folds] for start in range(0, len(stubs), folds)]
    for orders in product(list(permutations(range(folds))), repeat=len(columns) - 1):
        rest = list(zip(columns[1:], orders, strict=True))
        yield [[columns[0][i], *(column[order[i]] for column, order in rest)] for i in range(folds)]


def _partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield every partition into non-empty groups."""
    if not items:
        yield []
        return
    for smaller in _partitions(items[1:]):
        yield [[items[0]], *smaller]
        for index in range(len(smaller)):
            yield [*smaller[:index], [items[0], *smaller[index]], *smaller[index + 1 :]]


def _walks(graph: ColouredGraph) -> tuple[object, ...]:
    """Numbers of closed walks from the nodes of each colour: equal for isomorphic graphs.

    Refinement would give all covers the same key; closed walks see cycles.
    """
    matrix = np.zeros((graph.num_nodes, graph.num_nodes), dtype=np.int64)
    for u, v in graph.edges:
        matrix[u, v] = matrix[v, u] = 1
    power, counts = matrix, []
    for _ in range(LONGEST_WALK - 1):
        power = power @ matrix
        counts.append(np.diag(power))
    rows = np.stack(counts, axis=1).tolist()
    labelled = sorted((color, tuple(row)) for color, row in zip(graph.colors, rows, strict=True))
    return tuple(labelled)
