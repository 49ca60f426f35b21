"""Beginning between two classes: real graphs of both, joined until the model is of two minds.

A search from nothing rarely meets the border of two classes of a steep model. Graphs that hold
pieces of both lie near it: where one class is ahead a piece of the other is added, and local search
does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.batches import compact, present_nodes
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import BoundaryTarget
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.edits import FeaturePool
from gnninterpreter.search.local import improved
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.real import placed
from gnninterpreter.search.state import State
from gnninterpreter.typicality import Exemplars

STEPS = 100


@dataclass(frozen=True)
class Bridge:
    """Begin at joined pieces of real graphs of both ``sides`` of a boundary, where they fit."""

    sides: tuple[Exemplars, Exemplars]
    name: str = "bridge"

    searches: ClassVar[bool] = True

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Replace the graphs of all restarts."""
        target, n = problem.aim.target, state.graphs.num_candidates
        # Graphs that leave room for another of their size.
        small = [(side, present_nodes(side.graphs).sum(1) <= n // 2) for side in self.sides]
        fitting = [side.select(k) for side, k in small if bool(k.any())]
        if not isinstance(target, BoundaryTarget) or len(fitting) < 2:
            return state

        def like(graphs: DenseGraphs) -> DenseGraphs:
            return placed(compact(graphs), state.graphs)

        def piece(side: Exemplars, number: int) -> DenseGraphs:
            return like(side.begin_small(streams.fork(number)))

        pool = FeaturePool.of(DenseGraphs.cat([like(one.graphs) for one in fitting]))

        joined = piece(fitting[0], 0)
        best, cost = joined, problem.evaluate(joined).cost
        # As many pieces as there can be; one that has no room changes nothing.
        for number in range(1, n // 2):
            logits = problem.scores(joined).logits
            ahead = logits[:, target.index] >= logits[:, target.other]
            more = piece(fitting[1], 2 * number).where(ahead, piece(fitting[0], 2 * number + 1))
            draws = streams.fork(-number).uniform(3, dtype=joined.weight.dtype)
            joined = _hung_on(joined, more, draws, pool)
            costs = problem.evaluate(joined).cost
            best, cost = joined.where(costs < cost, best), torch.minimum(costs, cost)
            if monitor.graphs(self.name, number, n // 2 + STEPS, best):
                break
        best = improved(problem, best, streams, STEPS)
        return state.at(best, problem.evaluate(best))


def _hung_on(
    graphs: DenseGraphs, more: DenseGraphs, draws: Tensor, pool: FeaturePool
) -> DenseGraphs:
    """Each graph with another beside it, joined by an edge; as it was where there is no room."""
    n, rows = graphs.num_candidates, torch.arange(len(graphs), device=draws.device)
    here, there = present_nodes(graphs), present_nodes(more)
    used, size = here.sum(1), there.sum(1)
    # Present nodes first, and those of the other graph behind them.
    old = (~here).int().argsort(dim=1, stable=True)
    place = torch.arange(n, device=draws.device) - used.unsqueeze(1)
    new = (~there).int().argsort(dim=1, stable=True).gather(1, place.clamp(0, n - 1))
    added = (place >= 0) & (place < size.unsqueeze(1))
    each = rows.unsqueeze(1)
    both = (added.unsqueeze(1) & added.unsqueeze(2)).unsqueeze(3)

    def at(values: Tensor, order: Tensor) -> Tensor:
        return values[each.unsqueeze(2), order.unsqueeze(2), order.unsqueeze(1)]

    weight = torch.where(both[..., 0], at(more.weight, new), at(graphs.weight, old))
    nodes = torch.where(added.unsqueeze(2), more.nodes[each, new], graphs.nodes[each, old])
    edges = None
    room = (used + size <= n).nonzero().squeeze(1)
    a = (draws[room, 0] * used[room]).long()
    b = used[room] + (draws[room, 1] * size[room]).long()
    ends = [(a, b)] if graphs.spec.directed else [(a, b), (b, a)]
    kind = pool.edge_features(draws[room, 2])
    if graphs.edges is not None and more.edges is not None and kind is not None:
        edges = torch.where(both, at(more.edges, new), at(graphs.edges, old))
        for i, j in ends:
            edges[room, i, j] = kind
    for i, j in ends:
        weight[room, i, j] = 1.0
    fits = torch.zeros_like(used, dtype=torch.bool).index_fill(0, room, True)
    return DenseGraphs(graphs.spec, weight, nodes, edges).where(fits, graphs)
