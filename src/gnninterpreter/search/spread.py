"""Spreading: walkers over certain and typical graphs, the population that samples come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch

from gnninterpreter.arguments import check_settings
from gnninterpreter.batches import repeat
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.edits import DRAWS, GROW, FeaturePool, propose
from gnninterpreter.search.problem import REAL_BAR, SAMPLE_BAR, Problem
from gnninterpreter.search.real import begun, fitting, placed
from gnninterpreter.search.repeating import Repeated, numbers, put
from gnninterpreter.search.state import State
from gnninterpreter.typicality import EitherBank, Exemplars, Measuring, distinct_rows

# Graphs of which a population has enough; a smaller one is filled up with real graphs.
ENOUGH = 50
# A population that is still smaller is walked on from, in so many turns at the most of so many
# steps, with so many times as many edits; these draw from streams of their own.
TURNS, STEPS, MORE, FURTHER = 16, 2, 8, 1000


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
        real = fitting(problem)
        if real is None:
            return state
        pool = FeaturePool.of(*(one.graphs for one in real))
        each = problem.rows_of_each(state.graphs)
        first = torch.cat([rows[: self.most_restarts] for rows in each])
        some, streams = problem.select(first), streams.select(first)
        walkers = begun(
            real,
            some,
            streams.fork(0),
            lambda one, own: one.begin(own, self.walkers, SAMPLE_BAR),
            state.graphs,
        )
        # Prototypes that were found are good places to begin at, too.
        places = torch.arange(first.numel(), device=first.device)
        walkers = walkers.merged(places * self.walkers, state.graphs[first])
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
        more = placed(real.graphs, modes)
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
        put(walkers, tried[self.places + which].where(found, walkers))
        self.good.logical_or_(found)
        self.number.add_(1)
