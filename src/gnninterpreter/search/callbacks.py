"""Callbacks: what they are told in every phase of a search, and how one of them ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, from_graphs
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search.batches import widened
from gnninterpreter.search.problem import Evaluation, Problem

__all__ = ["Callback", "Monitor", "Snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """What a callback sees of all restarts; every field is about the same moment.

    Args:
        phase: Name of the phase.
        iteration: Iterations done of this phase.
        iterations: Iterations of it at the most.
        score: How far each restart's most probable graph is what was asked for, [R].
        edges: Its number of edges, [R].
        distribution: The distributions whose most probable graphs these are.
    """

    phase: str
    iteration: int
    iterations: int
    score: Tensor
    edges: Tensor
    distribution: GraphDistribution


Callback = Callable[[Snapshot], bool | None]


class Monitor:
    """Tells callbacks how a search goes, and remembers whether one of them has ended it.

    Args:
        callbacks: Called at every step worth telling; one that returns True ends the search,
            whatever its phase.
        problem: What is being solved.
        candidates: Candidate nodes of the distributions that callbacks are shown.
    """

    def __init__(self, callbacks: tuple[Callback, ...], problem: Problem, candidates: int) -> None:
        """Nothing has happened yet."""
        self.callbacks = callbacks
        self.stopped = False
        self._problem, self._candidates = problem, candidates

    def graphs(self, phase: str, step: int, steps: int, graphs: DenseGraphs) -> bool:
        """Tell of the graphs that restarts have now; True ends the search."""
        if not self.callbacks:
            return False
        shown = from_graphs(widened(graphs, self._candidates))
        return self._tell(phase, step, steps, self._problem.evaluate(graphs), shown)

    def distributions(
        self,
        phase: str,
        step: int,
        steps: int,
        distribution: GraphDistribution,
        evaluation: Evaluation | None = None,
    ) -> bool:
        """Tell of the distributions that restarts have now; True ends the search."""
        if not self.callbacks:
            return False
        seen = evaluation or self._problem.evaluate(distribution.mode())
        return self._tell(phase, step, steps, seen, distribution)

    def _tell(
        self, phase: str, step: int, steps: int, seen: Evaluation, shown: GraphDistribution
    ) -> bool:
        # A copy: the search goes on changing its own, and a callback may keep what it was shown.
        snapshot = Snapshot(phase, step, steps, seen.score, seen.edges, shown.detach())
        answers = [callback(snapshot) for callback in self.callbacks]
        self.stopped = self.stopped or any(answers)
        return self.stopped
