"""Local search on discrete graphs: change one thing, keep what the judge likes best, repeat.

The gradient finds the neighbourhood of a good graph; the last steps are discrete ones. All
neighbours of all restarts are judged in one batch. The moves: add or remove an edge, bring in an
absent node by an edge (in each of its categories), change a node's or an edge's category, take a node
out.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.graphs import DenseGraphs, split_blocks
from gnninterpreter.objective import Goal
from gnninterpreter.optim.judge import Judge, Judgement
from gnninterpreter.spec import Block, Categorical

__all__ = ["neighbours", "refine"]

CHUNK = 2048
PROGRESS = 1e-4


def refine(
    graphs: DenseGraphs, goal: Goal, judge: Judge, steps: int = 60
) -> tuple[DenseGraphs, Judgement]:
    """Improve R discrete graphs by steepest descent, each on its own.

    Args:
        graphs: One graph for each restart.
        goal: What each is after.
        judge: Says how good a graph is.
        steps: Most changes made to a graph.

    Returns:
        The improved graphs, on the same candidate nodes, and their judgement.
    """
    best = judge(graphs, goal)
    open_ = list(range(len(graphs)))
    for _ in range(steps):
        proposals = [neighbours(graphs[r]) for r in open_]
        sizes = [len(p) for p in proposals]
        owners = torch.repeat_interleave(torch.tensor(open_), torch.tensor(sizes))
        everything = concatenate(proposals)
        costs = _costs(everything, goal.select(owners.to(goal.target.device)), judge)
        still, start = [], 0
        for r, size in zip(open_, sizes, strict=True):
            mine = costs[start : start + size]
            place = int(mine.argmin())
            if float(mine[place]) < float(best.cost[r]) - PROGRESS:
                graphs = _replaced(graphs, r, everything[start + place])
                best.cost[r] = mine[place]
                still.append(r)
            start += size
        open_ = still
        if not open_:
            break
    return graphs, judge(graphs, goal)


def neighbours(graph: DenseGraphs) -> DenseGraphs:
    """All graphs one move away from a single graph."""
    reached, present = graph.main_component()
    nodes = present[0].nonzero().flatten().tolist()
    absent = (~present[0]).nonzero().flatten().tolist()[:1]
    moves = _Moves(graph)
    pairs = [
        (i, j)
        for a, i in enumerate(nodes)
        for b, j in enumerate(nodes)
        if (b > a if not graph.spec.directed else b != a)
    ]
    for i, j in pairs:
        moves.flip(i, j)
    for i in nodes:
        moves.isolate(i)
        for choice in _choices(graph.spec.nodes, graph.nodes[0, i]):
            moves.set_node(i, choice)
    for i, j in pairs:
        if graph.weight[0, i, j] > 0.5 and graph.edges is not None:
            for choice in _choices(graph.spec.edges, graph.edges[0, i, j]):
                moves.set_edge(i, j, choice)
    for new in absent:
        options = [graph.nodes[0, new], *_choices(graph.spec.nodes, graph.nodes[0, new])]
        for i in nodes:
            for choice in options:
                moves.attach(i, new, choice)
    if not bool((reached == present).all()):
        moves.keep_only(reached[0])
    return moves.collect()


@dataclass
class _Moves:
    """Collects neighbours of one graph, then builds them all at once."""

    origin: DenseGraphs

    def __post_init__(self) -> None:
        self.weights: list[tuple[int, list[tuple[int, int, float]]]] = []
        self.nodes: list[tuple[int, int, Tensor]] = []
        self.edges: list[tuple[int, int, int, Tensor]] = []
        self.isolated: list[tuple[int, Tensor]] = []
        self.count = 0

    def _next(self) -> int:
        self.count += 1
        return self.count - 1

    def _both(self, i: int, j: int, value: float) -> list[tuple[int, int, float]]:
        one = [(i, j, value)]
        return one if self.origin.spec.directed else [*one, (j, i, value)]

    def flip(self, i: int, j: int) -> None:
        value = 1.0 - float(self.origin.weight[0, i, j])
        self.weights.append((self._next(), self._both(i, j, value)))

    def attach(self, i: int, new: int, features: Tensor) -> None:
        k = self._next()
        self.weights.append((k, self._both(i, new, 1.0)))
        self.nodes.append((k, new, features))

    def isolate(self, i: int) -> None:
        keep = torch.ones(self.origin.num_candidates, dtype=torch.bool)
        keep[i] = False
        self.isolated.append((self._next(), keep))

    def keep_only(self, mask: Tensor) -> None:
        self.isolated.append((self._next(), mask))

    def set_node(self, i: int, features: Tensor) -> None:
        self.nodes.append((self._next(), i, features))

    def set_edge(self, i: int, j: int, features: Tensor) -> None:
        k = self._next()
        self.edges.append((k, i, j, features))
        if not self.origin.spec.directed:
            self.edges.append((k, j, i, features))

    def collect(self) -> DenseGraphs:
        origin = self.origin
        weight = origin.weight.repeat(self.count, 1, 1)
        changes = [(k, i, j, v) for k, cells in self.weights for i, j, v in cells]
        if changes:
            k, i, j, v = (torch.tensor(column) for column in zip(*changes, strict=True))
            weight[k, i, j] = v.to(weight)
        for k, keep in self.isolated:
            mask = keep.to(weight)
            weight[k] = weight[k] * mask.unsqueeze(0) * mask.unsqueeze(1)
        nodes = origin.nodes.repeat(self.count, 1, 1)
        for k, i, features in self.nodes:
            nodes[k, i] = features
        edges = None if origin.edges is None else origin.edges.repeat(self.count, 1, 1, 1)
        for k, i, j, features in self.edges:
            assert edges is not None
            edges[k, i, j] = features
        return DenseGraphs(origin.spec, weight, nodes, edges)


def _choices(blocks: tuple[Block, ...], features: Tensor) -> list[Tensor]:
    """The features with one category changed, in every way."""
    parts = list(split_blocks(features, blocks))
    changed = []
    for b, block in enumerate(blocks):
        if not isinstance(block, Categorical):
            continue
        now = int(parts[b].argmax())
        for category in range(block.size):
            if category != now:
                one = torch.zeros_like(parts[b])
                one[category] = 1.0
                changed.append(torch.cat([*parts[:b], one, *parts[b + 1 :]]))
    return changed


def concatenate(batches: list[DenseGraphs]) -> DenseGraphs:
    """Put several batches on the same candidates behind each other."""
    first = batches[0]
    edges = None
    if first.edges is not None:
        edges = torch.cat([b.edges for b in batches if b.edges is not None])
    return DenseGraphs(
        first.spec,
        torch.cat([b.weight for b in batches]),
        torch.cat([b.nodes for b in batches]),
        edges,
    )


def compact(graphs: DenseGraphs) -> DenseGraphs:
    """The same graphs on as few candidate nodes as the largest of them needs."""
    present = graphs.presence.gt(0.5)
    most = max(int(present.sum(dim=1).max()), 3)
    if most >= graphs.num_candidates:
        return graphs
    order = present.int().argsort(dim=1, descending=True, stable=True)[:, :most]
    rows = torch.arange(len(graphs), device=order.device).unsqueeze(1)
    pick = (rows.unsqueeze(2), order.unsqueeze(2), order.unsqueeze(1))
    edges = None if graphs.edges is None else graphs.edges[pick]
    return DenseGraphs(graphs.spec, graphs.weight[pick], graphs.nodes[rows, order], edges)


def _costs(graphs: DenseGraphs, goal: Goal, judge: Judge) -> Tensor:
    costs = []
    for start in range(0, len(graphs), CHUNK):
        stop = min(start + CHUNK, len(graphs))
        where = torch.arange(start, stop, device=goal.target.device)
        costs.append(judge(compact(graphs[start:stop]), goal.select(where)).cost)
    return torch.cat(costs)


def _replaced(graphs: DenseGraphs, place: int, other: DenseGraphs) -> DenseGraphs:
    weight, nodes = graphs.weight.clone(), graphs.nodes.clone()
    weight[place], nodes[place] = other.weight[0], other.nodes[0]
    edges = None
    if graphs.edges is not None and other.edges is not None:
        edges = graphs.edges.clone()
        edges[place] = other.edges[0]
    return DenseGraphs(graphs.spec, weight, nodes, edges)
