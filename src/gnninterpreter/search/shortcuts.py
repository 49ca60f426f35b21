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
        known = problem.aim.judged and problem.aim.bank is not None
        if not known or monitor.graphs(self.name, 0, 1, state.graphs):
            return state
        bare = Objective(tuple(w for w in problem.objective.terms if w.term.name != "typicality"))
        some = torch.cat([rows[: self.restarts] for rows in problem.rows_of_each(state.graphs)])
        own, streams = replace(problem.select(some), objective=bare), streams.select(some)
        nodes = min(self.walk_nodes, state.graphs.num_candidates)
        start = random_walkers(
            state.graphs.spec, nodes, self.walkers, streams, state.graphs.weight.dtype
        )

        def certain(graphs: DenseGraphs) -> Tensor:
            seen = own.propose(graphs, new=True)
            return (seen.log_score.exp() >= own.aim.certain) & bare.feasible(seen)

        def enough(graphs: DenseGraphs) -> Tensor:
            """Where enough of those for the same target are certain."""
            sure = certain(graphs)
            each = [sure[rows].sum().expand(rows.numel()) for rows in own.rows_of_each(graphs)]
            return torch.cat(each) >= self.enough

        found = walk(
            own,
            start,
            streams,
            self.walk_steps,
            emphasis=emphasis_of(own, self.walkers),
            enough=enough,
        )
        rows = certain(found).nonzero().squeeze(1)
        if not rows.numel():
            return state
        own = own.select(rows)
        found = improved(own, found[rows], streams.fork(1).select(rows), self.local_steps)
        assert own.aim.bank is not None
        strange = own.aim.bank.percentile(found) < UNTYPICAL
        shortcuts = list(state.shortcuts)
        for place, span in enumerate(own.aim.spans):
            graphs = found[span][strange[span]]
            if len(graphs):
                shortcuts[place] = widened(graphs, state.graphs.num_candidates)
        return state.with_(shortcuts=tuple(shortcuts))
