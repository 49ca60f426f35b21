"""Changes to discrete graphs that a walk between typical graphs needs, many graphs at once.

Beyond single edges and categories: taking a node out with what hangs on it, closing a gap by
merging the two ends of an edge, opening an edge by a node, moving one end of an edge, hanging on a
node, swapping two nodes' features. New features are taken from real nodes and edges, so that they
have the frequencies of the data and may be continuous.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.graphs import DenseGraphs

__all__ = ["GROW", "MOVES", "SHRINK", "FeaturePool", "propose"]

MOVES = (
    "drop edge", "drop node", "drop branch", "merge", "move end", "swap",
    "new kind", "new edge kind", "add edge", "hang on", "open edge", "split",
)  # fmt: skip
(
    DROP_EDGE,
    DROP_NODE,
    DROP_BRANCH,
    MERGE,
    MOVE_END,
    SWAP,
    KIND,
    EDGE_KIND,
    ADD,
    HANG,
    OPEN,
    SPLIT,
) = range(12)
DRAWS = 6


@dataclass(frozen=True)
class FeaturePool:
    """Features of real nodes [M, F] and of real edges [K, D], or None where there are none."""

    nodes: Tensor
    edges: Tensor | None

    @classmethod
    def of(cls, graphs: DenseGraphs) -> FeaturePool:
        """Collect the features of all present nodes and edges."""
        edge = graphs.weight.gt(0.5)
        present = edge.any(2) | edge.any(1)
        return cls(graphs.nodes[present], None if graphs.edges is None else graphs.edges[edge])


SHRINK = (2.0, 3.0, 2.0, 3.0, 2.0, 0.5, 1.0, 1.0, 0.3, 0.3, 0.1, 0.1)
GROW = (1.0, 0.5, 0.3, 1.0, 2.0, 1.0, 2.0, 2.0, 1.5, 1.0, 1.0, 2.0)


def propose(
    graphs: DenseGraphs, draws: Tensor, pool: FeaturePool, odds: tuple[float, ...] = SHRINK
) -> DenseGraphs:
    """Make one random change to each of B graphs; one that cannot be made leaves its graph as is.

    Args:
        graphs: Discrete graphs.
        draws: Random numbers in [0, 1), [B, `DRAWS`].
        pool: Where new features come from.
        odds: How often each of `MOVES` is tried, relative to the others.
    """
    edit = _Edit(graphs, draws, pool)
    weights = torch.tensor(odds, dtype=torch.double, device=draws.device)
    if graphs.edges is None:
        weights[EDGE_KIND] = 0.0
    if not bool((pool.nodes != pool.nodes[:1]).any()):
        weights[[KIND, SWAP]] = 0.0
    bounds = (weights / weights.sum()).cumsum(0)
    kind = torch.searchsorted(bounds, draws[:, 0].double().contiguous()).clamp_max(len(odds) - 1)
    for move in range(len(MOVES)):
        rows = (kind == move).nonzero().squeeze(1)
        if rows.numel():
            edit.make(move, rows)
    weight = edit.weight
    weight.diagonal(dim1=1, dim2=2).zero_()
    return DenseGraphs(graphs.spec, weight, edit.nodes, edit.edges)


def _pick(mask: Tensor, chance: Tensor) -> tuple[Tensor, Tensor]:
    """One of the marked places of each row, all equally likely, and whether there is any."""
    total = mask.sum(1)
    which = (chance * total).floor().clamp_max(total - 1)
    place = (mask.cumsum(1) > which.unsqueeze(1)).int().argmax(1)
    return place, total > 0


class _Edit:
    """Graphs under change."""

    def __init__(self, graphs: DenseGraphs, draws: Tensor, pool: FeaturePool) -> None:
        self.before = graphs
        self.both = not graphs.spec.directed
        self.weight, self.nodes = graphs.weight.clone(), graphs.nodes.clone()
        self.edges = None if graphs.edges is None else graphs.edges.clone()
        self.draws, self.pool = draws, pool
        edge = graphs.weight.gt(0.5)
        self.joined = edge | edge.mT
        self.present = self.joined.any(2)

    def make(self, move: int, rows: Tensor) -> None:
        n = self.weight.size(1)
        u = self.draws[rows]
        here = self.present[rows]
        edge = self.before.weight[rows].gt(0.5)
        if move in (DROP_EDGE, MERGE, MOVE_END, EDGE_KIND, OPEN):
            place, ok = _pick(edge.flatten(1), u[:, 1])
            i, j = place // n, place % n
        else:
            i, ok = _pick(here, u[:, 1])
            j = i
        if move in (HANG, OPEN, SPLIT):
            k, free = _pick(~here, u[:, 2])
            ok = ok & free
        elif move in (ADD, MOVE_END):
            apart = here & ~self.joined[rows, i]
            apart = apart.scatter(1, i.unsqueeze(1), False)
            k, free = _pick(apart, u[:, 2])
            ok = ok & free
        elif move == SWAP:
            k, free = _pick(here, u[:, 2])
            ok = ok & free
        else:
            k = j
        rows, i, j, k, u = rows[ok], i[ok], j[ok], k[ok], u[ok]
        if not rows.numel():
            return
        if move == DROP_EDGE:
            self._cut(rows, i, j)
        elif move == DROP_NODE:
            self._remove(rows, i)
        elif move == DROP_BRANCH:
            leaf = self.joined[rows].sum(2).eq(1) & self.joined[rows, i]
            keep = (~leaf).to(self.weight.dtype)
            self.weight[rows] = self.weight[rows] * keep.unsqueeze(1) * keep.unsqueeze(2)
            self._remove(rows, i)
        elif move == MERGE:
            self._merge(rows, i, j)
        elif move == MOVE_END:
            features = None if self.edges is None else self.edges[rows, i, j]
            self._cut(rows, i, j)
            self._join(rows, i, k, features)
        elif move == SWAP:
            self.nodes[rows, i], self.nodes[rows, k] = (
                self.before.nodes[rows, k],
                self.before.nodes[rows, i],
            )
        elif move == KIND:
            self.nodes[rows, i] = self._node_features(u[:, 3])
        elif move == EDGE_KIND:
            self._join(rows, i, j, self._edge_features(u[:, 3]))
        elif move == ADD:
            self._join(rows, i, k, self._edge_features(u[:, 3]))
        elif move == HANG:
            self.nodes[rows, k] = self._node_features(u[:, 3])
            self._join(rows, i, k, self._edge_features(u[:, 4]))
        elif move == OPEN:
            features = None if self.edges is None else self.edges[rows, i, j]
            self._cut(rows, i, j)
            self.nodes[rows, k] = self._node_features(u[:, 3])
            self._join(rows, i, k, features)
            self._join(rows, k, j, self._edge_features(u[:, 4]))
        elif move == SPLIT:
            self._split(rows, i, k, u)

    def _node_features(self, chance: Tensor) -> Tensor:
        return self.pool.nodes[(chance * self.pool.nodes.size(0)).long()].to(self.nodes)

    def _edge_features(self, chance: Tensor) -> Tensor | None:
        if self.pool.edges is None or self.edges is None:
            return None
        return self.pool.edges[(chance * self.pool.edges.size(0)).long()].to(self.edges)

    def _cut(self, rows: Tensor, i: Tensor, j: Tensor) -> None:
        self.weight[rows, i, j] = 0.0
        if self.both:
            self.weight[rows, j, i] = 0.0

    def _join(self, rows: Tensor, i: Tensor, j: Tensor, features: Tensor | None) -> None:
        self.weight[rows, i, j] = 1.0
        if self.both:
            self.weight[rows, j, i] = 1.0
        if self.edges is not None and features is not None:
            self.edges[rows, i, j] = features
            if self.both:
                self.edges[rows, j, i] = features

    def _remove(self, rows: Tensor, i: Tensor) -> None:
        self.weight[rows, i] = 0.0
        self.weight[rows, :, i] = 0.0

    def _merge(self, rows: Tensor, i: Tensor, j: Tensor) -> None:
        """Node j becomes one with i: its other neighbours become those of i."""
        new_in = self.weight[rows, j] * (1 - self.weight[rows, i])
        new_out = self.weight[rows, :, j] * (1 - self.weight[rows, :, i])
        if self.edges is not None:
            take = new_in.gt(0.5).unsqueeze(2)
            self.edges[rows, i] = torch.where(take, self.edges[rows, j], self.edges[rows, i])
            take = new_out.gt(0.5).unsqueeze(2)
            self.edges[rows, :, i] = torch.where(
                take, self.edges[rows, :, j], self.edges[rows, :, i]
            )
        self.weight[rows, i] += new_in
        self.weight[rows, :, i] += new_out
        self._remove(rows, j)
        self.weight[rows, i, i] = 0.0

    def _split(self, rows: Tensor, i: Tensor, k: Tensor, u: Tensor) -> None:
        """Node i becomes two, joined; each neighbour goes to the one, the other or both."""
        n = self.weight.size(1)
        # One number decides for all neighbours: its digits to the base of three.
        power = 3.0 ** torch.arange(n, device=u.device, dtype=torch.double)
        digit = ((u[:, 3:4].double() * 977.0 + u[:, 4:5].double()) * power).floor().remainder(3)
        stays, goes = digit.ne(1), digit.ne(0)
        dtype = self.weight.dtype
        into, out = self.weight[rows, i], self.weight[rows, :, i]
        self.weight[rows, k], self.weight[rows, :, k] = into * goes.to(dtype), out * goes.to(dtype)
        self.weight[rows, i], self.weight[rows, :, i] = (
            into * stays.to(dtype),
            out * stays.to(dtype),
        )
        self.nodes[rows, k] = torch.where(
            u[:, 2:3] < 0.5, self.nodes[rows, i], self._node_features(u[:, 5])
        )
        if self.edges is not None:
            self.edges[rows, k] = self.edges[rows, i]
            self.edges[rows, :, k] = self.edges[rows, :, i]
        self._join(rows, i, k, self._edge_features(u[:, 5]))
