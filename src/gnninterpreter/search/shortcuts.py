"""Shortcuts: what fools the model, found by looking where nothing real is.

The search as the paper has it, for certainty alone and from nothing: quick walks over small graphs
and a local search. What it finds is worth having under its right name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from gnninterpreter.arguments import check_settings
from gnninterpreter.batches import widened
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Typical
from gnninterpreter.recording import fixed_shapes
from gnninterpreter.search.anneal import CHECK_EVERY, Walk, emphasis_of, random_walkers
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.local import Improving
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.repeating import Turns, done, finishing, steps_unseen
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
        if not _known(problem) or monitor.graphs(self.name, 0, 1, state.graphs):
            return state
        return state.with_(shortcuts=done(self.looking(problem, state, streams)))

    def looking(
        self, problem: Problem, state: State, streams: Streams
    ) -> Turns[tuple[DenseGraphs | None, ...]]:
        """Look in turns, which needs no more of the state than how many restarts it has.

        So few walkers leave a GPU nearly idle, so that it looks while it is busy with other phases.
        """
        if not _known(problem):
            return state.shortcuts
        bare = problem.objective.without(Typical.name)
        some = torch.cat([rows[: self.restarts] for rows in problem.rows_of_each(state.graphs)])
        own, streams = problem.select(some), streams.select(some)
        own = replace(own, objective=bare, aside=None)
        spec, candidates = state.graphs.spec, state.graphs.num_candidates
        dtype, device = state.graphs.weight.dtype, state.graphs.weight.device
        nodes = min(self.walk_nodes, candidates)
        start = random_walkers(spec, nodes, self.walkers, streams, dtype)
        emphasis = emphasis_of(own, self.walkers)
        walk = Walk(own, start, streams, self.walk_steps, emphasis)

        certain = torch.zeros_like(walk.ended)

        def look(graphs: DenseGraphs) -> None:
            """All have what they want where enough of those for the same target are certain."""
            with fixed_shapes(on=device):
                seen = own.propose(graphs, new=True)
                sure = (seen.log_score.exp() >= own.aim.certain) & bare.feasible(seen)
            certain.copy_(sure)
            each = [sure[rows].sum().expand(rows.numel()) for rows in own.rows_of_each(graphs)]
            walk.ended.copy_(torch.cat(each) >= self.enough)

        on_gpu = device.type != "cpu"
        found = yield from finishing(walk, self.walk_steps, CHECK_EVERY, look=look, blind=on_gpu)
        rows = certain.nonzero().squeeze(1)
        if not rows.numel():
            return state.shortcuts
        own = own.select(rows)
        yield False
        improving = Improving(own, found[rows], streams.fork(1).select(rows))
        every = steps_unseen(device)
        found = yield from finishing(improving, self.local_steps, every, blind=on_gpu)
        yield False
        assert own.aim.bank is not None
        strange = own.aim.bank.percentile(found) < UNTYPICAL
        yield True
        shortcuts = list(state.shortcuts)
        for place, span in enumerate(own.aim.spans):
            graphs = found[span][strange[span]]
            if len(graphs):
                shortcuts[place] = widened(graphs, candidates)
        return tuple(shortcuts)


def _known(problem: Problem) -> bool:
    """Whether real graphs say what is untypical."""
    return problem.aim.judged and problem.aim.bank is not None
