"""Watching a search: what callbacks are told in every phase of it, and how one of them ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, from_graphs
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Goal
from gnninterpreter.search.batches import compact, widened
from gnninterpreter.search.judge import Judge

__all__ = ["Callback", "Look", "Watch"]


@dataclass(frozen=True)
class Look:
    """What a callback sees: the state of all restarts.

    Args:
        phase: ``"walk"``, ``"search"``, ``"refine"``, ``"persist"`` or ``"settle"``.
        iteration: Iterations done of this phase.
        iterations: Iterations of it at the most.
        probability: Class probability of each restart's most probable graph, [R].
        edges: Its number of edges, [R].
        distribution: The distributions as they are now.
    """

    phase: str
    iteration: int
    iterations: int
    probability: Tensor
    edges: Tensor
    distribution: GraphDistribution


Callback = Callable[[Look], bool | None]


class Watch:
    """Tells callbacks how a search goes, and remembers whether one of them has ended it.

    Args:
        callbacks: Called at every look; one that returns True ends the search, whatever its phase.
        goal: What the restarts are after.
        judge: Says how good graphs are.
        candidates: Candidate nodes of the distributions that callbacks are shown.
    """

    def __init__(
        self, callbacks: tuple[Callback, ...], goal: Goal, judge: Judge, candidates: int
    ) -> None:
        """Watch nothing yet."""
        self.callbacks = callbacks
        self.stopped = False
        self._goal, self._judge, self._candidates = goal, judge, candidates

    def tell(self, look: Look) -> bool:
        """Tell all callbacks, and say whether the search is to end."""
        answers = [callback(look) for callback in self.callbacks]
        self.stopped = self.stopped or any(answers)
        return self.stopped

    def graphs(self, phase: str, steps: int) -> Callable[[int, DenseGraphs], bool]:
        """What a phase that changes one graph of each restart calls between its steps."""

        def look(step: int, graphs: DenseGraphs) -> bool:
            if not self.callbacks:
                return False
            shown = from_graphs(widened(graphs, self._candidates))
            return self._tell_of(phase, step, steps, graphs, shown)

        return look

    def distributions(self, phase: str, steps: int) -> Callable[[int, GraphDistribution], bool]:
        """What a phase that changes distributions calls between its steps."""

        def look(step: int, distribution: GraphDistribution) -> bool:
            if not self.callbacks:
                return False
            return self._tell_of(phase, step, steps, distribution.mode(), distribution)

        return look

    def _tell_of(
        self, phase: str, step: int, steps: int, graphs: DenseGraphs, shown: GraphDistribution
    ) -> bool:
        seen = self._judge(compact(graphs), self._goal)
        return self.tell(Look(phase, step, steps, seen.probability, seen.edges, shown))
