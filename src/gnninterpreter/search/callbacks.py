"""Callbacks: what they are told in every phase of a search, and how one of them ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from torch import Tensor

from gnninterpreter.arguments import several
from gnninterpreter.batches import repeat, widened
from gnninterpreter.distribution import GraphDistribution, from_graphs
from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search.problem import Evaluation, Problem

if TYPE_CHECKING:
    from gnninterpreter.search.state import State


Seen = tuple[Evaluation, GraphDistribution]


class Snapshot:
    """What a callback sees of all restarts of a target; all of it is about the same moment.

    ``done`` is the share of the whole search that is done, which never falls; ``target`` the
    target's name. What restarts have is evaluated when it is first asked for: who shows no more
    than how far a search is does not hold it up.
    """

    def __init__(
        self,
        phase: str,
        iteration: int,
        iterations: int,
        see: Callable[[], Seen],
        done: float = 0.0,
        target: str = "",
    ) -> None:
        self.phase, self.iteration, self.iterations = phase, iteration, iterations
        self.done, self.target = done, target
        self._see = see

    @cached_property
    def _seen(self) -> Seen:
        return self._see()

    @property
    def score(self) -> Tensor:
        """How far each restart's most probable graph is what was asked for, [R]."""
        return self._seen[0].score

    @property
    def edges(self) -> Tensor:
        """Edges of these graphs, [R]."""
        return self._seen[0].edges

    @property
    def distribution(self) -> GraphDistribution:
        """The distributions of all restarts."""
        return self._seen[1]


Callback = Callable[[Snapshot], bool | None]


def callbacks_of(callbacks: Any) -> tuple[Callback, ...]:
    """Check what is to be called: one function, or several."""
    single = callable(callbacks)
    listed = (callbacks,) if single else several("callbacks", callbacks, "functions of a Snapshot")
    for callback in listed:
        if not callable(callback):
            raise SpecError(
                f"callbacks must be functions of a Snapshot (got {type(callback).__name__})"
            )
    return listed


class Monitor:
    """Tells callbacks how a search goes, and remembers whether one of them has ended it.

    Of several targets that are searched for together they are told one after the other.

    Args:
        callbacks: Called at every step worth telling; one that returns True ends the search,
            whatever its phase.
        problem: What is being solved.
        candidates: Candidate nodes of the distributions that callbacks are shown.
        phases: Names of all phases of the search, in their order.

    Attributes:
        stopped: Whether a callback has ended the search.
        part: Which part of the restarts is searched for, of how many.
    """

    def __init__(
        self,
        callbacks: tuple[Callback, ...],
        problem: Problem,
        candidates: int,
        phases: tuple[str, ...] = (),
    ) -> None:
        self.callbacks = callbacks
        self.stopped = False
        self.part = (0, 1)
        self._phases, self._done = phases, 0.0
        self._problem, self._candidates = problem, candidates
        self._others: tuple[State, Tensor] | None = None

    @contextmanager
    def about(self, state: State, rows: Tensor) -> Iterator[None]:
        """While a phase works on some restarts, callbacks are told of all of them."""
        self._others = (state, rows)
        try:
            yield
        finally:
            self._others = None

    def graphs(self, phase: str, step: int, steps: int, graphs: DenseGraphs) -> bool:
        """Tell of the graphs that restarts have now; True ends the search."""
        if not self.callbacks:
            return False
        # A copy: the search goes on changing its own, and a callback may keep what it is shown.
        asked, kept = self._asked(), repeat(graphs, 1)

        def see() -> Seen:
            return asked.evaluate(kept), from_graphs(widened(kept, self._candidates))

        return self._tell(phase, step, steps, see)

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
        asked, kept = self._asked(), distribution.detach()

        def see() -> Seen:
            return evaluation or asked.evaluate(kept.mode()), kept

        return self._tell(phase, step, steps, see)

    def _asked(self) -> Problem:
        """What the restarts that a phase works on have to solve."""
        return self._problem if self._others is None else self._problem.select(self._others[1])

    def _tell(self, phase: str, step: int, steps: int, see: Callable[[], Seen]) -> bool:
        others = self._others

        @cache
        def whole() -> Seen:
            seen, shown = see()
            if others is None:
                return seen, shown
            state, rows = others
            return state.evaluation.merged(rows, seen), state.distribution.merged(rows, shown)

        def own(rows: slice) -> Seen:
            seen, shown = whole()
            return seen.select(rows), shown.select(rows).detach()

        done, aim = self._share(phase, step / max(steps, 1)), self._problem.aim
        answers = []
        for one, span in zip(aim.aims, aim.spans, strict=True):
            see_own = partial(own, span)
            snapshot = Snapshot(phase, step, steps, see_own, done, one.target.name)
            answers += [callback(snapshot) for callback in self.callbacks]
        self.stopped = self.stopped or any(answers)
        return self.stopped

    def _share(self, phase: str, of_phase: float) -> float:
        """Share of the search that is done; a phase that ends early is passed by the next."""
        place = self._phases.index(phase) if phase in self._phases else 0
        of_part = (place + min(of_phase, 1.0)) / max(len(self._phases), 1)
        self._done = max(self._done, (self.part[0] + of_part) / self.part[1])
        return self._done
