"""Searching from real graphs: prototypes, never leaving what is certain, whole and typical.

A search from nothing finds what fools a model; one that begins at a real graph and never leaves
what is certain and typical finds what the model takes for the class. Changes that make nothing
worse are made too, so that a walk goes on where no single change makes a graph smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.arguments import check_settings
from gnninterpreter.batches import choose, compact, present_nodes, repeat, replaced, widened
from gnninterpreter.distribution import Streams, centred
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Typical
from gnninterpreter.recording import fixed_shapes
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.edits import DRAWS, GROW, SHRINK, FeaturePool, propose
from gnninterpreter.search.problem import REAL_BAR, SAMPLE_BAR, Evaluation, Problem
from gnninterpreter.search.repeating import Repeated, finished, numbers, put
from gnninterpreter.search.state import State
from gnninterpreter.typicality import BAR, EitherBank, Exemplars, Measuring, distinct_rows

# Costs that differ by less are the same.
SAME = 1e-6
# After how many steps a GPU is asked which restarts go on.
LOOK_EVERY = 5
# Graphs of which a population has enough; a smaller one is filled up with real graphs.
ENOUGH = 50
# A population that is still smaller is walked on from, in so many turns at the most of so many
# steps, with so many times as many edits; these draw from streams of their own.
TURNS, STEPS, MORE, FURTHER = 16, 2, 8, 1000


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
        real = _fitting(problem)
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
            begin = _begun(
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
            graphs = replaced(graphs, places, found[better])
            seen = seen.merged(places, new.select(better))
            met[places], tried[rows] = new.met[better], True
            number += each
        return state.with_(
            distribution=centred(state.distribution, graphs),
            graphs=graphs,
            evaluation=seen,
        )

    def _shrunk(
        self, problem: Problem, graphs: DenseGraphs, pool: FeaturePool, streams: Streams
    ) -> DenseGraphs:
        every = 1 if graphs.weight.device.type == "cpu" else LOOK_EVERY
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
        put(self.best, choose(take, tried[self.rows * tries + which], self.best))
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


@dataclass(frozen=True)
class Spread:
    """Let walkers spread over certain and typical graphs: the population that samples come from.

    Every edit that keeps a graph certain, whole and typical is made, so that walkers spread evenly
    over what they can reach: of all distributions over these graphs the even one has the most
    entropy. What is drawn from the learned distributions and is as good joins them, each graph
    once, and real graphs where these are few. Does nothing where no real graphs are known.

    Args:
        walkers: Walkers of each restart.
        steps: Steps of each.
        edits: Edits that a walker tries in a step; it makes the first that is good.
        keep_every: After how many steps their places are noted.
        draws: Graphs that are drawn from the distribution of each restart.
        most_restarts: Most restarts that send walkers: the population need not grow with them.
    """

    walkers: int = 16
    steps: int = 8
    edits: int = 3
    keep_every: int = 1
    draws: int = 32
    most_restarts: int = 8
    name: str = "spread"

    narrows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings(self, walkers=1, steps=1, edits=1, keep_every=1, draws=1, most_restarts=1)

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Note where walkers have been; the restarts themselves stay as they are."""
        real = _fitting(problem)
        if real is None:
            return state
        pool = FeaturePool.of(*(one.graphs for one in real))
        each = problem.rows_of_each(state.graphs)
        first = torch.cat([rows[: self.most_restarts] for rows in each])
        some, streams = problem.select(first), streams.select(first)
        walkers = _begun(
            real,
            some,
            streams.fork(0),
            lambda one, own: one.begin(own, self.walkers, SAMPLE_BAR),
            state.graphs,
        )
        # Prototypes that were found are good places to begin at, too.
        places = torch.arange(first.numel(), device=first.device)
        walkers = replaced(walkers, places * self.walkers, state.graphs[first])
        work = _Spreading(some, walkers, pool, streams, self.edits)
        size = self.edits * numbers(walkers)
        again = Repeated(work.step, first.device, self.steps, size)
        drawn = state.distribution.select(first).discrete(self.draws, streams.fork(self.steps + 1))
        kept = [state.graphs, drawn]
        fine = [problem.good(state.graphs), some.good(drawn)]
        owners = [torch.arange(len(state.graphs), device=first.device)]
        owners.append(first.repeat_interleave(self.draws))
        for step in range(self.keep_every, self.steps + 1, self.keep_every):
            again(self.keep_every)
            kept.append(repeat(work.walkers, 1))
            fine.append(work.good.clone())
            owners.append(first.repeat_interleave(self.walkers))
            if monitor.graphs(self.name, step, self.steps, state.graphs):
                break
        # Restart by restart, so that it is the same however restarts are divided.
        restart, good = torch.cat(owners), torch.cat(fine)
        order = restart.argsort(stable=True)
        order = order[good[order]]
        every, aim = DenseGraphs.cat(kept)[order], problem.aim.select(restart[order])
        population = list(state.population)
        for place, (found, rows, walked) in enumerate(
            zip(aim.spans, problem.aim.spans, some.aim.spans, strict=True)
        ):
            if not len(own := streams.select(walked)):
                continue
            one = replace(problem, aim=problem.aim.alone(place))
            modes, known = state.graphs[rows][fine[0][rows]], problem.aim.aims[place].bank
            assert known is not None
            whole = self._population(one, every[found], modes, real[place], pool, own, known)
            population[place] = whole if len(whole) else None
        return state.with_(population=tuple(population))

    def _population(
        self,
        problem: Problem,
        found: DenseGraphs,
        modes: DenseGraphs,
        real: Exemplars,
        pool: FeaturePool,
        streams: Streams,
        bank: Measuring | EitherBank,
    ) -> DenseGraphs:
        """Different graphs among those found for one target, filled up where they are few."""
        found = found[distinct_rows(found, bank)]
        if len(found) >= ENOUGH:
            return found
        # Where hardly any edit leads from one member to another, those that seem to may be near
        # misses, and real members come before them.
        more = _placed(real.graphs, modes)
        more = more[problem.good(more, bar=REAL_BAR)]
        found = DenseGraphs.cat([modes, more, found])
        found = found[distinct_rows(found, bank)[:ENOUGH]]
        return self._further(problem, found, pool, streams, bank)

    def _further(
        self,
        problem: Problem,
        found: DenseGraphs,
        pool: FeaturePool,
        streams: Streams,
        bank: Measuring | EitherBank,
    ) -> DenseGraphs:
        """Go on from what is there with more edits, while they are few and that leads to new ones.

        Of a model that is rarely sure hardly an edit in a hundred is good.
        """
        for turn in range(TURNS):
            before = len(found)
            if not 0 < before < ENOUGH:
                break
            places = torch.arange(self.walkers * len(streams), device=streams.keys.device) % before
            further = streams.fork(FURTHER + turn)
            work = _Spreading(problem, found[places], pool, further, MORE * self.edits)
            reached = [found]
            for _ in range(STEPS):
                work.step()
                reached.append(work.walkers[work.good.nonzero().squeeze(1)])
            found = DenseGraphs.cat(reached)
            found = found[distinct_rows(found, bank)[:ENOUGH]]
            if len(found) == before:
                break
        return found


class _Spreading:
    """Walkers on their way over good graphs.

    Args:
        problem: Says which graphs are good.
        walkers: Where each begins.
        pool: Where new features come from.
        streams: One for each restart, which share the walkers among them.
        edits: Edits that a walker tries in a step.
    """

    def __init__(
        self,
        problem: Problem,
        walkers: DenseGraphs,
        pool: FeaturePool,
        streams: Streams,
        edits: int,
    ) -> None:
        self.problem, self.streams, self.edits = problem, streams, edits
        self.pool = pool.for_(problem.aim.rows(edits * len(walkers)).own)
        self.walkers, self.good = repeat(walkers, 1), problem.good(walkers, new=True)
        self.places = torch.arange(len(walkers), device=streams.keys.device) * edits
        self.number = torch.ones_like(self.places[0])

    def step(self) -> None:
        """Each walker makes the first of its edits that is good."""
        walkers, edits = self.walkers, self.edits
        each = len(walkers) // len(self.streams)
        draws = self.streams.fork(self.number).uniform(
            each, edits, DRAWS, dtype=walkers.weight.dtype
        )
        tried = propose(repeat(walkers, edits), draws.flatten(0, 2), self.pool, GROW)
        well = self.problem.good(tried, new=True).view(-1, edits)
        found, which = well.any(1), well.int().argmax(1)
        put(walkers, choose(found, tried[self.places + which], walkers))
        self.good.logical_or_(found)
        self.number.add_(1)


def _bar(problem: Problem) -> float:
    """Percentile among real graphs that the objective asks for."""
    terms = [weighted.term for weighted in problem.objective.terms]
    return next((term.bar for term in terms if isinstance(term, Typical)), BAR)


def _fitting(problem: Problem) -> list[Exemplars] | None:
    """Real graphs of each target that are within its limit; None unless all have some."""
    found = []
    for aim in problem.aim.aims:
        known = aim.typicality
        if known is None:
            return None
        sizes = present_nodes(known.exemplars.graphs).sum(1)
        keep = (sizes <= aim.max_nodes).nonzero().squeeze(1)
        if not keep.numel():
            return None
        found.append(known.exemplars.each(lambda part, keep=keep: part[keep]))
    return found


def _begun(
    real: list[Exemplars],
    problem: Problem,
    streams: Streams,
    draw: Callable[[Exemplars, Streams], DenseGraphs],
    like: DenseGraphs,
) -> DenseGraphs:
    """Real graphs that are drawn for each stream, those of its own target."""
    each = zip(real, problem.aim.spans, strict=True)
    owners = [(one, own) for one, rows in each if len(own := streams.select(rows))]
    return DenseGraphs.cat([_placed(draw(one, own), like) for one, own in owners])


def _placed(graphs: DenseGraphs, like: DenseGraphs) -> DenseGraphs:
    """Graphs on as many candidate nodes as others, where and in the type that these are."""
    n = like.num_candidates
    small = compact(graphs) if graphs.num_candidates > n else graphs
    return widened(small, n).to(like.weight.dtype).to(like.weight.device)
