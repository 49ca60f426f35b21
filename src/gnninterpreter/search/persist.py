"""Persistence: where local search ends short of the class, walk on from there and try again.

Some models are certain of few graphs, or only of large ones, and a local search ends before them.
Walkers then set out from the best graph so far, led by the judge's own cost; where that does not
help, afresh over graphs of any allowed size, as at the beginning of a search, where graphs stay
small; and from the best graph once more. What they find is refined, and taken if it is better.
Restarts that have reached their class take no part, so that this costs time only where there is
something to gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Goal
from gnninterpreter.search.anneal import anneal, random_walkers
from gnninterpreter.search.batches import repeat, replaced
from gnninterpreter.search.judge import Judge, Judgement
from gnninterpreter.search.refine import refine

__all__ = ["persist"]


class Round(NamedTuple):
    """How many walkers of each restart set out, and for how many steps."""

    walkers: int
    steps: int


# Few graphs are judged about as fast as one, so many walkers for a short time beat few for long.
ONWARD, AFRESH = Round(walkers=32, steps=50), Round(walkers=16, steps=150)
ROUNDS = (ONWARD, AFRESH, ONWARD)
# In units of the judge's cost, of which one percent of probability are two.
TEMPERATURES = (2.0, 0.05)


def persist(
    graphs: DenseGraphs,
    goal: Goal,
    judge: Judge,
    streams: Streams,
    enough: float,
    look: Callable[[int, DenseGraphs], bool] | None = None,
) -> tuple[DenseGraphs, Judgement]:
    """Improve those of R discrete graphs whose class probability is not enough.

    Args:
        graphs: One graph for each restart, locally optimal.
        goal: What each is after.
        judge: Says how good a graph is.
        streams: Source of randomness, one stream for each restart.
        enough: Class probability of a sound graph with which a restart is content.
        look: Called before each round with the rounds done and the graphs so far; True ends it.

    Returns:
        The graphs, on the same candidate nodes, and their judgement.
    """
    seen = judge(graphs, goal)
    for number, way in enumerate(ROUNDS):
        short = ((seen.probability < enough) | ~seen.sound).nonzero().squeeze(1)
        if not short.numel() or (look is not None and look(number, graphs)):
            break
        aims, some = goal.select(short), streams.fork(number).select(short)
        if way is AFRESH:
            start = random_walkers(
                graphs.spec, graphs.num_candidates, way.walkers, some, graphs.weight.dtype
            )
            found, _ = anneal(start, aims, judge, some, way.steps)
        else:
            start = repeat(graphs[short], way.walkers)
            found, _ = anneal(
                start, aims, judge, some, way.steps, energy=_cost, temperatures=TEMPERATURES
            )
        found, judged = refine(found, aims, judge, some)
        better = judged.cost < seen.cost[short]
        graphs = replaced(graphs, short[better], found[better])
        seen = judge(graphs, goal)
    return graphs, seen


def _cost(seen: Judgement, aims: Goal, each: int) -> Tensor:
    return seen.cost
