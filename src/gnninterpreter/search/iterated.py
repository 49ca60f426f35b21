"""Iterated local search: where a restart ends short of its target, walk on and try again.

Walkers set out from the best graph so far, led by the cost itself; where that does not help, afresh
over graphs of any allowed size; and from the best graph once more. What they find is improved by
local search, and taken if it is better. Restarts that have reached their target take no part, and
none sets out once more from where it has set out in vain.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from gnninterpreter.arguments import check_settings
from gnninterpreter.batches import repeat
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search.anneal import emphasis_of, random_walkers, walk
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.local import improved
from gnninterpreter.search.problem import Problem, gained
from gnninterpreter.search.state import State

# Walkers of each restart and their steps. Few graphs are scored about as fast as one, so many
# walkers for a short time beat few for long.
ONWARD, AFRESH = (32, 50), (16, 150)
# In units of the cost, of which one percent of probability are two.
TEMPERATURES = (2.0, 0.05)
LOCAL_STEPS = 100


@dataclass(frozen=True)
class IteratedSearch:
    """Improve restarts that are not certain or feasible, by rounds of walks and local search."""

    rounds: int = 3
    name: str = "iterated search"

    def __post_init__(self) -> None:
        check_settings(self, rounds=1)

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Go on where a restart is short of its target."""
        graphs, seen = state.graphs, state.evaluation
        elsewhere = torch.ones_like(seen.feasible)  # than when it last set out from its best graph
        for number in range(self.rounds):
            afresh = number % 2 == 1
            short = ((seen.score < problem.aim.certain) | ~seen.feasible).nonzero().squeeze(1)
            if not short.numel() or monitor.graphs(self.name, number, self.rounds, graphs):
                break
            short = short if afresh else short[elsewhere[short]]
            if not short.numel():
                continue
            some, own = streams.fork(number).select(short), problem.select(short)
            found = _walked(own, graphs[short], some, afresh)
            found = improved(own, found, some, LOCAL_STEPS)
            cost, before = own.cost(found), seen.cost[short]
            better = cost < before
            elsewhere[short] = gained(cost, before) | (elsewhere[short] & afresh)
            graphs = graphs.merged(short[better], found[better])
            seen = problem.evaluate(graphs)
        return state if graphs is state.graphs else state.at(graphs, seen)


def _walked(problem: Problem, graphs: DenseGraphs, streams: Streams, afresh: bool) -> DenseGraphs:
    if not afresh:
        walkers, steps = ONWARD
        start = repeat(graphs, walkers)
        return walk(problem, start, streams, steps, by_cost=True, temperatures=TEMPERATURES)
    walkers, steps = AFRESH
    start = random_walkers(
        graphs.spec, graphs.num_candidates, walkers, streams, graphs.weight.dtype
    )
    return walk(problem, start, streams, steps, emphasis=emphasis_of(problem, walkers))
