"""Changes to discrete graphs that a walk between typical graphs needs, many graphs at once.

Beyond single edges and categories: taking a node out with what hangs on it, closing a gap by
merging the two ends of an edge, opening an edge by a node, moving one end of an edge, hanging on a
node, swapping two nodes' features. New features are taken from real nodes and edges, so that they
have the frequencies of the data and may be continuous.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

import torch
from torch import Tensor

from gnninterpreter.batches import present_nodes
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search.moves import picked

MOVES = (
    "drop edge", "drop node", "drop branch", "merge", "move end", "swap",
    "new kind", "new edge kind", "add edge", "hang on", "open edge", "split",
)  # fmt: skip
DROP_EDGE, DROP_NODE, DROP_BRANCH, MERGE, MOVE_END, SWAP = range(6)
KIND, EDGE_KIND, ADD, HANG, OPEN, SPLIT = range(6, 12)
DRAWS = 6


@dataclass(frozen=True)
class FeaturePool:
    """Features of real nodes [M, F] and of real edges [K, D], or None where there are none.

    Those of several classes lie one after the other: ``spans`` say where those of each begin and
    how many they are, [2, Q, 2], nodes first; ``own`` which of them each graph has, or all have.
    """

    nodes: Tensor
    edges: Tensor | None
    spans: Tensor
    varied: tuple[bool, ...]
    own: int | Tensor = 0

    @classmethod
    def of(cls, *graphs: DenseGraphs) -> FeaturePool:
        """Collect the features of all present nodes and edges of some classes."""
        nodes: list[Tensor] = []
        edges: list[Tensor] = []
        for some in graphs:
            nodes.append(some.nodes[present_nodes(some)])
            edges.append(some.nodes[:0] if some.edges is None else some.edges[some.weight.gt(0.5)])
        spans = torch.tensor([_spans(nodes), _spans(edges)], device=nodes[0].device)
        return cls(
            torch.cat(nodes),
            None if graphs[0].edges is None else torch.cat(edges),
            spans,
            tuple(bool((part != part[:1]).any()) for part in nodes),
        )

    def for_(self, own: int | Tensor) -> FeaturePool:
        """The same for graphs of these classes."""
        return replace(self, own=own)

    def node_features(self, chance: Tensor) -> Tensor:
        """Features of a real node of each graph's class, as chance has it; [B, F]."""
        first, size = self.spans[0, self.own].unbind(-1)
        return self.nodes[first + (chance * size).long()]

    def edge_features(self, chance: Tensor) -> Tensor | None:
        """The same of a real edge, [B, D]; None where edges have none."""
        if self.edges is None:
            return None
        first, size = self.spans[1, self.own].unbind(-1)
        return self.edges[first + (chance * size).long()]


def _spans(parts: list[Tensor]) -> list[tuple[int, int]]:
    """Where each part begins once they are joined, and how long it is."""
    ends = accumulate(map(len, parts))
    return [(end - len(part), len(part)) for part, end in zip(parts, ends, strict=True)]


SHRINK = (2.0, 3.0, 2.0, 3.0, 2.0, 0.5, 1.0, 1.0, 0.3, 0.3, 0.1, 0.1)
GROW = (1.0, 0.5, 0.3, 1.0, 2.0, 1.0, 2.0, 2.0, 1.5, 1.0, 1.0, 2.0)


def propose(
    graphs: DenseGraphs, draws: Tensor, pool: FeaturePool, odds: tuple[float, ...] = SHRINK
) -> DenseGraphs:
    """Make one random change to each of B graphs; one that cannot be made leaves its graph as is.

    ``draws`` are random numbers in [0, 1), [B, `DRAWS`]; ``odds`` say how often each of `MOVES` is
    tried; new features come from the ``pool``.
    """
    each = []
    for varied in pool.varied:
        shares = list(odds)
        if graphs.edges is None:
            shares[EDGE_KIND] = 0.0
        if not varied:
            shares[KIND] = shares[SWAP] = 0.0
        each.append(tuple(shares))
    bounds = _bounds(tuple(each), draws.device)[pool.own]
    kind = torch.searchsorted(bounds, draws[:, :1].double().contiguous()).squeeze(1)
    return _Edit(graphs, draws, pool, kind).made()


@lru_cache(maxsize=32)
def _bounds(odds: tuple[tuple[float, ...], ...], device: torch.device) -> Tensor:
    """Up to which number in [0, 1) each move is drawn, for each of some odds."""
    ends = torch.tensor([[*accumulate(shares)] for shares in odds], dtype=torch.double)
    return (ends[:, :-1] / ends[:, -1:]).to(device)


class _Edit:
    """Graphs under change: every step for all rows, since to ask for which would wait for a GPU."""

    def __init__(self, graphs: DenseGraphs, draws: Tensor, pool: FeaturePool, kind: Tensor) -> None:
        self.spec, self.both = graphs.spec, not graphs.spec.directed
        self.weight, self.nodes = graphs.weight.clone(), graphs.nodes.clone()
        self.edges = None if graphs.edges is None else graphs.edges.clone()
        self.draws, self.pool, self.kind = draws, pool, kind
        self.rows = torch.arange(len(graphs), device=draws.device)
        edge = graphs.weight.gt(0.5)
        self.joined = edge | edge.mT
        here = self.joined.any(2)
        n = here.size(1)
        place, edged = picked(edge.flatten(1), draws[:, 1])
        node, there = picked(here, draws[:, 1])
        at_edge = self._is(DROP_EDGE, MERGE, MOVE_END, EDGE_KIND, OPEN)
        self.i = torch.where(at_edge, place // n, node)
        self.j = torch.where(at_edge, place % n, node)
        # A second node: an absent one, one apart from the first, or any.
        apart = here & ~self.joined[self.rows, self.i]
        apart = apart.scatter(1, self.i.unsqueeze(1), False)
        new, far, swap = self._is(HANG, OPEN, SPLIT), self._is(ADD, MOVE_END), self._is(SWAP)
        pool_of = torch.where(new.unsqueeze(1), ~here, torch.where(far.unsqueeze(1), apart, here))
        self.k, free = picked(pool_of, draws[:, 2])
        self.ok = torch.where(at_edge, edged, there) & (free | ~(new | far | swap))

    def _is(self, *moves: int) -> Tensor:
        found = self.kind == moves[0]
        for move in moves[1:]:
            found = found | (self.kind == move)
        return found

    def _does(self, *moves: int) -> Tensor:
        return self._is(*moves) & self.ok

    def made(self) -> DenseGraphs:
        """The graphs after one move each."""
        rows, i, j, k, u = self.rows, self.i, self.j, self.k, self.draws
        moved = None if self.edges is None else self.edges[rows, i, j]
        fresh, other = self._edge_features(u[:, 3]), self._edge_features(u[:, 4])
        self._merge(self._does(MERGE))
        self._drop(self._does(DROP_NODE, DROP_BRANCH), self._does(DROP_BRANCH))
        self._split(self._does(SPLIT))
        self._cut(self._does(DROP_EDGE, MOVE_END, OPEN))
        old_i, old_k = self.nodes[rows, i], self.nodes[rows, k]
        swap, drawn = self._does(SWAP), self._node_features(u[:, 3])
        self._put(self._does(KIND) | swap, i, torch.where(_wide(swap), old_k, drawn))
        self._put(self._does(HANG, OPEN) | swap, k, torch.where(_wide(swap), old_i, drawn))
        last = self._edge_features(u[:, 5])
        if moved is not None and fresh is not None and other is not None and last is not None:
            hung = torch.where(_wide(self._is(HANG)), other, fresh)
            fresh = torch.where(_wide(self._is(MOVE_END, OPEN)), moved, hung)
            fresh = torch.where(_wide(self._is(SPLIT)), last, fresh)
        ends = torch.where(self._is(EDGE_KIND), j, k)
        self._join(self._does(MOVE_END, EDGE_KIND, ADD, HANG, OPEN, SPLIT), i, ends, fresh)
        self._join(self._does(OPEN), k, j, other)
        self.weight.diagonal(dim1=1, dim2=2).zero_()
        return DenseGraphs(self.spec, self.weight, self.nodes, self.edges)

    def _node_features(self, chance: Tensor) -> Tensor:
        return self.pool.node_features(chance).to(self.nodes)

    def _edge_features(self, chance: Tensor) -> Tensor | None:
        found = None if self.edges is None else self.pool.edge_features(chance)
        return None if found is None else found.to(self.nodes)

    def _put(self, does: Tensor, node: Tensor, features: Tensor) -> None:
        """Give a node other features."""
        now = self.nodes[self.rows, node]
        self.nodes[self.rows, node] = torch.where(_wide(does), features, now)

    def _cut(self, does: Tensor) -> None:
        """Take the edge out."""
        kept = (~does).to(self.weight)
        self.weight[self.rows, self.i, self.j] *= kept
        if self.both:
            self.weight[self.rows, self.j, self.i] *= kept

    def _join(self, does: Tensor, i: Tensor, j: Tensor, features: Tensor | None) -> None:
        """Put an edge between two nodes, or give one that is there other features."""
        rows, edge = self.rows, does.to(self.weight)
        for a, b in ((i, j), (j, i)) if self.both else ((i, j),):
            self.weight[rows, a, b] = torch.maximum(self.weight[rows, a, b], edge)
            if self.edges is not None and features is not None:
                now = self.edges[rows, a, b]
                self.edges[rows, a, b] = torch.where(_wide(does), features, now)

    def _drop(self, does: Tensor, branch: Tensor) -> None:
        """Take a node out, or also what hangs on it alone."""
        leaf = self.joined.sum(2).eq(1) & self.joined[self.rows, self.i] & _wide(branch)
        gone = leaf.scatter(1, self.i.unsqueeze(1), does.unsqueeze(1)).to(self.weight)
        self.weight *= (1 - gone).unsqueeze(1) * (1 - gone).unsqueeze(2)

    def _merge(self, does: Tensor) -> None:
        """Node j becomes one with i: its other neighbours become those of i."""
        rows, i, j, some = self.rows, self.i, self.j, does.to(self.weight).unsqueeze(1)
        new_in = self.weight[rows, j] * (1 - self.weight[rows, i]) * some
        new_out = self.weight[rows, :, j] * (1 - self.weight[rows, :, i]) * some
        if self.edges is not None:
            take = new_in.gt(0.5).unsqueeze(2)
            self.edges[rows, i] = torch.where(take, self.edges[rows, j], self.edges[rows, i])
            take = new_out.gt(0.5).unsqueeze(2)
            self.edges[rows, :, i] = torch.where(
                take, self.edges[rows, :, j], self.edges[rows, :, i]
            )
        self.weight[rows, i] += new_in
        self.weight[rows, :, i] += new_out
        self.weight[rows, j] *= 1 - some
        self.weight[rows, :, j] *= 1 - some

    def _split(self, does: Tensor) -> None:
        """Node i becomes two, which are to be joined; neighbours go to the one, other or both."""
        rows, i, k, u = self.rows, self.i, self.k, self.draws
        n = self.weight.size(1)
        # One number decides for all neighbours: its digits to the base of three.
        power = 3.0 ** torch.arange(n, device=u.device, dtype=torch.double)
        digit = ((u[:, 3:4].double() * 977.0 + u[:, 4:5].double()) * power).floor().remainder(3)
        some = _wide(does)
        stays, goes = (digit.ne(1) | ~some).to(self.weight), (digit.ne(0) & some).to(self.weight)
        into, out = self.weight[rows, i], self.weight[rows, :, i]
        self.weight[rows, k] += into * goes
        self.weight[rows, :, k] += out * goes
        self.weight[rows, i] *= stays
        self.weight[rows, :, i] *= stays
        alike = torch.where(u[:, 2:3] < 0.5, self.nodes[rows, i], self._node_features(u[:, 5]))
        self._put(does, k, alike)
        if self.edges is not None:
            wide = some.unsqueeze(2)
            self.edges[rows, k] = torch.where(wide, self.edges[rows, i], self.edges[rows, k])
            self.edges[rows, :, k] = torch.where(
                wide, self.edges[rows, :, i], self.edges[rows, :, k]
            )


def _wide(mask: Tensor) -> Tensor:
    return mask.unsqueeze(1)
