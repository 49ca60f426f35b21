"""Leaving out graphs that are another one with its nodes renumbered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gnninterpreter.audit.colored import ColoredGraph

__all__ = ["distinct"]

LONGEST_WALK = 9
# Exact isomorphism takes long on large graphs without colors; closed walks nearly always decide.
EXACT_NODES = 24


def distinct(graphs: Iterable[ColoredGraph]) -> Iterator[ColoredGraph]:
    """Leave out what is isomorphic, with its colors, to one before it.

    Of graphs with more than 24 nodes those with equal numbers of closed walks count as one.
    """
    buckets: dict[tuple[object, ...], list[ColoredGraph]] = {}
    for graph in graphs:
        alike = buckets.setdefault(_walks(graph), [])
        large = graph.num_nodes > EXACT_NODES
        if not any(large or graph.isomorphic(other) for other in alike):
            alike.append(graph)
            yield graph


def _walks(graph: ColoredGraph) -> tuple[object, ...]:
    """Weights of closed walks from the nodes of each color: equal for isomorphic graphs.

    Refinement would give all covers the same key; closed walks see cycles. Each color of edges,
    and each direction, has a weight of its own; the numbers wrap round where they grow too large.
    """
    matrix = np.zeros((graph.num_nodes, graph.num_nodes), dtype=np.int64)
    for (u, v), kind in zip(graph.edges, graph.kinds, strict=True):
        matrix[u, v] += 1 + 7919 * kind
        matrix[v, u] += (1_000_003 if graph.directed else 1) * (1 + 7919 * kind)
    power, counts = matrix, []
    for _ in range(LONGEST_WALK - 1):
        power = power @ matrix
        counts.append(np.diag(power))
    rows = np.stack(counts, axis=1).tolist()
    labeled = sorted((color, tuple(row)) for color, row in zip(graph.colors, rows, strict=True))
    return tuple(labeled)
