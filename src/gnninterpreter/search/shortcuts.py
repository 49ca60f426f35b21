"""Shortcuts: what fools the model, found by looking where nothing real is.

The search as the paper has it, for certainty alone and from nothing: quick walks over small graphs
and a local search. What it finds is worth having under its right name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gnninterpreter.arguments import check_settings
from gnninterpreter.batches import widened
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Objective
from gnninterpreter.search.anneal import emphasis_of, random_walkers, walk
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.local import improved
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.state import State

# Percentile among real graphs below which a graph could not pass for one.
UNTYPICAL = 5.0


@dataclass(frozen=True)
class FindShortcuts:
    """Note graphs that are certain and untypical; the restarts themselves stay as they are.

    Does nothing where no real graphs are known, since nothing then says what is untypical.

    Args:
        restarts: Searches, at most as many as there are restarts.
        enough: How many of them have to be certain of a graph for the others to end, too.
        walkers: Walkers of each.
        walk_steps: Most steps of a walker.
        walk_nodes: Most nodes of the graphs they walk over.
        local_steps: Most steps of the local search.
    """

    restarts: int = 4
    enough: int = 2
    walkers: int = 16
    walk_steps: int = 100
    walk_nodes: int = 10
    local_steps: int = 15
    name: str = "shortcuts"

    def __post_init__(self) -> None:
        check_settings(
            self, restarts=1, enough=1, walkers=1, walk_steps=1, walk_nodes=3, local_steps=1
        )

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Look for shortcuts."""
        known = problem.aim.typicality if problem.aim.judged else None
        if known is None or monitor.graphs(self.name, 0, 1, state.graphs):
            return state
        bare = Objective(tuple(w for w in problem.objective.terms if w.term.name != "typicality"))
        task = replace(problem, objective=bare)
        count = min(self.restarts, len(state.graphs))
        some = streams.select(torch.arange(count, device=state.graphs.weight.device))
        nodes = min(self.walk_nodes, state.graphs.num_candidates)
        start = random_walkers(
            state.graphs.spec, nodes, self.walkers, some, state.graphs.weight.dtype
        )

        def certain(graphs: DenseGraphs) -> Tensor:
            seen = task.propose(graphs, new=True)
            return (seen.log_score.exp() >= problem.certain) & bare.feasible(seen)

        found = walk(
            task,
            start,
            some,
            self.walk_steps,
            emphasis=emphasis_of(task, self.walkers),
            tell=lambda step, best: int(certain(best).sum()) >= self.enough,
        )
        rows = certain(found).nonzero().squeeze(1)
        if not rows.numel():
            return state
        found = improved(task, found[rows], some.fork(1).select(rows), self.local_steps)
        found = found[known.bank.percentile(found) < UNTYPICAL]
        found = widened(found, state.graphs.num_candidates)
        return state.with_(shortcuts=found if len(found) else None)
