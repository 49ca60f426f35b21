"""Graphs that look the same from close by: what message passing has a hard time telling apart.

A *cover* of a graph has k copies of every node, and each copy sees exactly the features that the
original sees; copies are joined crosswise. To message passing it is the same as k separate copies
of the graph. A *switch* exchanges the ends of two edges that end at like nodes: every node keeps
the features of its neighbours, and the graph its size.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import networkx as nx
import torch
from torch import Tensor
from torch_geometric.data import Data

__all__ = ["LookalikeMaker", "covers", "invariant", "lookalikes", "switches"]

LookalikeMaker = Callable[[Data], list[Data]]

MOST_ASSIGNMENTS = 256
MOST_NODES = 60
WALKS = (3, 4, 5, 6)


def lookalikes(graph: Data, limit: int = 8, seed: int = 0) -> list[Data]:
    """Make distinct look-alikes of an undirected graph: covers first, then switches.

    Args:
        graph: The graph to imitate.
        limit: Most look-alikes of each sort.
        seed: Of the draw where there are more.
    """
    found = covers(graph, seed=seed)[:limit]
    return found + switches(graph, seed=seed)[:limit]


def covers(graph: Data, folds: int = 2, seed: int = 0) -> list[Data]:
    """Make the connected k-fold covers of a graph, by assigning permutations to its edges.

    The edges of a spanning tree join copy i with copy i; every other edge may use any permutation
    of the copies. All assignments are tried, or a draw of them where there are very many. Covers
    with equal counts of closed walks at nodes of equal features count as one.

    Args:
        graph: An undirected graph.
        folds: Number of copies k.
        seed: Of the draw.
    """
    pairs, attributes = _pairs(graph)
    n = int(graph.num_nodes or 0)
    if not pairs or folds * n > MOST_NODES:
        return []
    tree = {tuple(sorted(e)) for e in nx.minimum_spanning_edges(nx.Graph(pairs), data=False)}
    free = [e for e, pair in enumerate(pairs) if pair not in tree]
    ways = list(permutations(range(folds)))
    identity = ways[0]
    found: dict[object, Data] = {}
    for assignment in _assignments(len(free), len(ways), seed):
        voltage = [identity] * len(pairs)
        for e, way in zip(free, assignment, strict=True):
            voltage[e] = ways[way]
        edges = [
            (i + copy * n, j + voltage[e][copy] * n)
            for e, (i, j) in enumerate(pairs)
            for copy in range(folds)
        ]
        if not _connected(edges, folds * n):
            continue
        rows = None if attributes is None else attributes.repeat_interleave(folds, 0)
        made = _undirected(graph.x.repeat(folds, *[1] * (graph.x.dim() - 1)), edges, rows)
        found.setdefault(invariant(made), made)
    return list(found.values())


def switches(graph: Data, seed: int = 0, attempts: int = 400) -> list[Data]:
    """Exchange the ends of pairs of edges where every node keeps the features it sees.

    Args:
        graph: An undirected graph.
        seed: Of the draw.
        attempts: Pairs of edges to try.
    """
    pairs, attributes = _pairs(graph)
    if len(pairs) < 2:
        return []
    features = [tuple(row) for row in graph.x.reshape(graph.x.size(0), -1).tolist()]
    kinds = [()] * len(pairs) if attributes is None else _tuples(attributes)
    generator = torch.Generator().manual_seed(seed)
    own = invariant(graph)
    found: dict[object, Data] = {}
    for draw in torch.randint(len(pairs), (attempts, 2), generator=generator).tolist():
        first, second = draw
        for c, d in (pairs[second], pairs[second][::-1]):
            a, b = pairs[first]
            if len({a, b, c, d}) < 4 or kinds[first] != kinds[second]:
                continue
            if features[b] != features[d]:
                continue
            edges = [pair for e, pair in enumerate(pairs) if e not in draw]
            new = [_sorted(a, d), _sorted(c, b)]
            if set(new) & set(edges):
                continue
            rows = None
            if attributes is not None:
                kept = [e for e in range(len(pairs)) if e not in draw]
                rows = attributes[[*kept, first, second]]
            if _connected(edges + new, int(graph.num_nodes or 0)):
                made = _undirected(graph.x, edges + new, rows)
                key = invariant(made)
                if key != own:
                    found.setdefault(key, made)
    return list(found.values())


def invariant(graph: Data) -> tuple[object, ...]:
    """What isomorphic graphs share: closed walks at each node, with its features, sorted."""
    n = int(graph.num_nodes or 0)
    adjacency = torch.zeros(n, n, dtype=torch.double)
    adjacency[graph.edge_index[0], graph.edge_index[1]] = 1.0
    power, walks = adjacency @ adjacency, []
    for _ in WALKS:
        power = power @ adjacency
        walks.append(power.diagonal())
    counts = torch.stack(walks, dim=1).long().tolist()
    features = graph.x.reshape(n, -1).tolist()
    edges: tuple[tuple[float, ...], ...] = ()
    if graph.get("edge_attr") is not None:
        edges = tuple(sorted(_tuples(graph.edge_attr)))
    rows = sorted((tuple(f), tuple(c)) for f, c in zip(features, counts, strict=True))
    return (tuple(rows), edges)


def _assignments(free: int, ways: int, seed: int) -> list[tuple[int, ...]]:
    if ways**free <= MOST_ASSIGNMENTS:
        return list(product(range(ways), repeat=free))
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(ways, (MOST_ASSIGNMENTS, free), generator=generator)
    # Single crossings are the mildest covers, and a draw would miss most of them.
    single = [tuple(int(e == f) for e in range(free)) for f in range(free)]
    return [*single, *(tuple(row) for row in drawn.tolist())]


def _pairs(graph: Data) -> tuple[list[tuple[int, int]], Tensor | None]:
    """Each undirected edge once, with its features."""
    place: dict[tuple[int, int], int] = {}
    for e, (i, j) in enumerate(graph.edge_index.t().tolist()):
        if i != j:
            place.setdefault(_sorted(i, j), e)
    attributes = graph.get("edge_attr")
    return list(place), None if attributes is None else attributes[list(place.values())]


def _sorted(i: int, j: int) -> tuple[int, int]:
    return (i, j) if i < j else (j, i)


def _tuples(rows: Tensor) -> list[tuple[float, ...]]:
    return [tuple(row) for row in rows.reshape(rows.size(0), -1).tolist()]


def _connected(edges: list[tuple[int, int]], nodes: int) -> bool:
    graph = nx.Graph(edges)
    return len(graph) == nodes and bool(nx.is_connected(graph))


def _undirected(x: Tensor, edges: list[tuple[int, int]], attributes: Tensor | None) -> Data:
    forth = torch.tensor(edges, dtype=torch.long).t()
    data = Data(x=x, edge_index=torch.cat([forth, forth.flip(0)], dim=1), num_nodes=x.size(0))
    if attributes is not None:
        data.edge_attr = torch.cat([attributes, attributes])
        if not attributes.is_floating_point() and attributes.numel() == attributes.size(0):
            data.edge_type = data.edge_attr.reshape(-1)
    return data
