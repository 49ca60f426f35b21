"""Shrinking: from real graphs to prototypes, never leaving what is certain, whole and typical.

A search from nothing finds what fools a model; one that begins at a real graph and never leaves
what is certain and typical finds what the model takes for the class. Changes that make nothing
worse are made too, so that a walk goes on where no single change makes a graph smaller.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.arguments import check_settings
from gnninterpreter.batches import compact, repeat, widened
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Typical
from gnninterpreter.recording import fixed_shapes
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.edits import DRAWS, SHRINK, FeaturePool, propose
from gnninterpreter.search.problem import Evaluation, Problem
from gnninterpreter.search.real import begun, fitting
from gnninterpreter.search.repeating import LOOK_EVERY, finished, put, steps_unseen
from gnninterpreter.search.state import State
from gnninterpreter.typicality import BAR

# Costs that differ by less are the same.
SAME = 1e-6


@dataclass(frozen=True)
class Shrink:
    """Begin each restart at a real graph, and change it for the better by random edits.

    Does nothing where no real graphs are known.

    Args:
        steps: Most steps.
        tries: Edits that are tried in a step; the best is made, also if it is no better.
        patience: Steps without improvement after which a restart ends.
        rounds: How often a restart that has come to nothing begins again at another real graph.
    """

    steps: int = 60
    tries: int = 24
    patience: int = 12
    rounds: int = 5
    name: str = "shrink"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings(self, steps=1, tries=1, patience=1, rounds=1)

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Replace the graphs of all restarts by prototypes."""
        real = fitting(problem)
        if real is None:
            return state
        pool = FeaturePool.of(*(one.graphs for one in real))
        graphs, seen = state.graphs, state.evaluation
        bar = _bar(problem)
        met = torch.zeros(len(graphs), dtype=torch.bool, device=graphs.weight.device)
        tried = met.clone()
        number = 0
        while number < self.rounds:
            rows = (~met).nonzero().squeeze(1)
            if not rows.numel() or monitor.graphs(self.name, number, self.rounds, graphs):
                break
            each = _at_once(rows, self.rounds - number, len(graphs))
            rounds = [streams.fork(number + one).select(rows) for one in range(each)]
            some = Streams.interleaved(rounds)
            own = problem.select(rows.repeat_interleave(each))
            begin = begun(
                real, own, some.fork(0), lambda one, some: one.begin_small(some, bar), graphs
            )
            found = self._shrunk(own, begin, pool, some.fork(1))
            # A later beginning replaces an earlier one, which left something to be desired, where
            # it leaves nothing or costs less.
            new = own.evaluate(found)
            if each > 1:
                best = _first(new, each)
                found, new = found[best], new.select(best)
            better = new.met | (new.cost < seen.cost[rows]) | ~tried[rows]
            better = better.nonzero().squeeze(1)
            places = rows[better]
            graphs = graphs.merged(places, found[better])
            seen = seen.merged(places, new.select(better))
            met[places], tried[rows] = new.met[better], True
            number += each
        return state.at(graphs, seen).with_(found=torch.ones_like(state.found))

    def _shrunk(
        self, problem: Problem, graphs: DenseGraphs, pool: FeaturePool, streams: Streams
    ) -> DenseGraphs:
        every = steps_unseen(graphs.weight.device)
        work = _Shrinking(problem, graphs, pool, streams, self.tries, self.patience)
        return finished(work, self.steps, every, candidates=graphs.num_candidates)


class _Shrinking:
    """Restarts on their way from real graphs to prototypes.

    Args:
        problem: Says how good a graph is.
        graphs: Where each begins.
        pool: Where new features come from.
        streams: One for each.
        tries: Edits that are tried in a step.
        patience: Steps without improvement after which a restart ends.
    """

    def __init__(
        self,
        problem: Problem,
        graphs: DenseGraphs,
        pool: FeaturePool,
        streams: Streams,
        tries: int,
        patience: int,
    ) -> None:
        self.problem, self.streams = problem, streams
        self.each, self.patience = tries, patience
        self.pool = pool.for_(problem.aim.rows(tries * len(graphs)).own)
        self.most = graphs.num_candidates
        self.best = _roomy(graphs, self.most)
        with fixed_shapes(on=graphs.weight.device):
            self.cost = problem.cost(graphs).clone()
        self.rows = torch.arange(len(graphs), device=graphs.weight.device)
        self.idle, self.number = torch.zeros_like(self.rows), torch.zeros_like(self.rows[0])

    def going(self) -> Tensor:
        """Which restarts have become better of late."""
        return self.idle < self.patience

    def select(self, keep: Tensor) -> _Shrinking:
        """Some of the restarts, as far on as they are."""
        other = copy(self)
        other.problem = self.problem.select(keep)
        other.best, other.streams = _roomy(self.best[keep], self.most), self.streams.select(keep)
        other.pool = self.pool.for_(other.problem.aim.rows(self.each * len(other.best)).own)
        other.cost, other.idle = self.cost[keep], self.idle[keep]
        other.rows, other.number = self.rows[: len(other.best)], self.number.clone()
        return other

    @torch.no_grad()
    def step(self) -> None:
        """Try some edits of each and make the best, if it makes nothing worse."""
        going, cost, tries = self.going(), self.cost, self.each
        draws = self.streams.fork(self.number).uniform(tries, DRAWS, dtype=cost.dtype)
        tried = propose(repeat(self.best, tries), draws.flatten(0, 1), self.pool, SHRINK)
        bound = (cost + SAME).repeat_interleave(tries)
        costs = self.problem.objective.cost(self.problem.propose(tried), bound=bound)
        low, which = costs.view(-1, tries).min(1)
        take = (low <= cost + SAME) & going
        put(self.best, tried[self.rows * tries + which].where(take, self.best))
        self.idle.copy_(torch.where((low < cost - SAME) & going, 0, self.idle + going))
        self.cost.copy_(torch.where(take, low, cost))
        self.number.add_(1)


def _at_once(rows: Tensor, left: int, restarts: int) -> int:
    """How many of the rounds that are left are made side by side for some of the restarts.

    A GPU takes as long for few graphs as for many.
    """
    return left if rows.is_cuda and rows.numel() * left <= restarts else 1


def _first(seen: Evaluation, each: int) -> Tensor:
    """Of so many graphs of each restart the first that leaves nothing to be desired.

    Where there is none, the first of those that cost least.
    """
    met, cost = seen.met.view(-1, each), seen.cost.view(-1, each)
    least = cost.sort(dim=1, stable=True).indices[:, 0]
    which = torch.where(met.any(1), met.int().argmax(1), least)
    return torch.arange(len(which), device=which.device) * each + which


def _roomy(graphs: DenseGraphs, most: int) -> DenseGraphs:
    """A copy; on a GPU on as few candidate nodes as may be needed until it is next looked at."""
    if graphs.weight.device.type == "cpu":
        return repeat(graphs, 1)
    small = compact(graphs)
    # A step adds a node at the most.
    return repeat(widened(small, min(small.num_candidates + LOOK_EVERY, most)), 1)


def _bar(problem: Problem) -> float:
    """Percentile among real graphs that the objective asks for."""
    terms = [weighted.term for weighted in problem.objective.terms]
    return next((term.bar for term in terms if isinstance(term, Typical)), BAR)
