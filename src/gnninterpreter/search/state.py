"""The state of a search, which every phase takes and returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor

from gnninterpreter.batches import replaced
from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.problem import Evaluation, Problem


class Reason(str, Enum):
    """Why a restart ended."""

    CONVERGED = "converged"
    PLATEAU = "plateau"
    RAN_OUT = "iterations ran out"
    BUDGET_NOT_MET = "budget not met"
    NON_FINITE = "non-finite"
    STOPPED = "stopped"

    def __str__(self) -> str:
        return self.value


@dataclass
class History:
    """What was seen along the way, one entry for each check; tensors have shape [R]."""

    iteration: list[int] = field(default_factory=list)
    probability: list[Tensor] = field(default_factory=list)
    expected_edges: list[Tensor] = field(default_factory=list)
    similarity: list[Tensor] = field(default_factory=list)
    terms: list[dict[str, Tensor]] = field(default_factory=list)

    @staticmethod
    def beside(parts: Sequence[tuple[History, int]]) -> History:
        """What several sets of restarts have seen, each with its number of restarts.

        One that has ended before others has seen nothing of later checks.
        """
        seen = [({check: i for i, check in enumerate(h.iteration)}, h, n) for h, n in parts]
        checks = sorted({check for places, _, _ in seen for check in places})
        names = dict.fromkeys(name for one, _ in parts for terms in one.terms for name in terms)

        def rows(values: Callable[[History, int], Tensor | None]) -> list[Tensor]:
            like = next(value for one, _ in parts for value in one.probability)
            return [
                torch.cat(
                    [
                        value
                        if check in places and (value := values(one, places[check])) is not None
                        else like.new_full((count,), math.nan)
                        for places, one, count in seen
                    ]
                )
                for check in checks
            ]

        terms = {name: rows(partial(_term, name)) for name in names}
        return (
            History(
                checks,
                rows(lambda one, i: one.probability[i]),
                rows(lambda one, i: one.expected_edges[i]),
                rows(lambda one, i: one.similarity[i]),
                [{name: terms[name][i] for name in names} for i in range(len(checks))],
            )
            if checks
            else History()
        )

    def select(self, rows: Tensor) -> History:
        """The same of some restarts."""
        return self._with(lambda values, _: values[rows], self)

    def merged(self, rows: Tensor, some: History, total: int) -> History:
        """What some restarts have seen since; of the others nothing is known of the same checks."""
        # A phase that has seen nothing hands back what it was given: the others keep theirs.
        before = self if self.iteration == some.iteration else None

        def wide(values: Tensor, mine: Tensor | None) -> Tensor:
            base = values.new_full((total,), math.nan) if mine is None else mine
            return base.index_copy(0, rows, values)

        return some._with(wide, before)

    def _with(
        self, change: Callable[[Tensor, Tensor | None], Tensor], other: History | None
    ) -> History:
        """The same with every tensor changed, given the other history's at the same place."""

        def parts(name: str) -> list[Tensor]:
            mine: list[Tensor] = getattr(self, name)
            theirs = [None] * len(mine) if other is None else getattr(other, name)
            return [change(a, b) for a, b in zip(mine, theirs, strict=True)]

        terms = [
            {
                name: change(value, None if other is None else other.terms[i][name])
                for name, value in seen.items()
            }
            for i, seen in enumerate(self.terms)
        ]
        return History(
            list(self.iteration),
            parts("probability"),
            parts("expected_edges"),
            parts("similarity"),
            terms,
        )


def _term(name: str, history: History, place: int) -> Tensor | None:
    return history.terms[place].get(name)


@dataclass(frozen=True)
class State:
    """R restarts between two phases: distributions, their most probable graphs, what was seen.

    ``population`` are different graphs that are certain and typical, where samples come from;
    None where they come from the distributions. ``shortcuts`` are certain and unlike anything
    real.
    """

    distribution: GraphDistribution
    graphs: DenseGraphs
    evaluation: Evaluation
    reasons: tuple[Reason, ...] = ()
    iterations: tuple[int, ...] = ()
    history: History = field(default_factory=History)
    population: DenseGraphs | None = None
    shortcuts: DenseGraphs | None = None

    @classmethod
    def begin(cls, distribution: GraphDistribution, problem: Problem) -> State:
        """The state before any phase."""
        count, graphs = distribution.restarts, distribution.mode()
        reasons = (Reason.PLATEAU,) * count
        return cls(distribution, graphs, problem.evaluate(graphs), reasons, (0,) * count)

    def with_(self, **changes: Any) -> State:
        """The same state with other fields."""
        return replace(self, **changes)

    def select(self, rows: Tensor) -> State:
        """The same of some restarts."""
        places = rows.tolist()
        return replace(
            self,
            distribution=self.distribution.select(rows),
            graphs=self.graphs[rows],
            evaluation=self.evaluation.select(rows),
            reasons=tuple(self.reasons[r] for r in places),
            iterations=tuple(self.iterations[r] for r in places),
            history=self.history.select(rows),
        )

    def merged(self, rows: Tensor, some: State) -> State:
        """The same with some restarts as another state has them."""
        reasons, iterations = list(self.reasons), list(self.iterations)
        for place, row in enumerate(rows.tolist()):
            reasons[row], iterations[row] = some.reasons[place], some.iterations[place]
        return replace(
            some,
            distribution=self.distribution.merged(rows, some.distribution),
            graphs=replaced(self.graphs, rows, some.graphs),
            evaluation=self.evaluation.merged(rows, some.evaluation),
            reasons=tuple(reasons),
            iterations=tuple(iterations),
            history=self.history.merged(rows, some.history, len(self.reasons)),
        )


class Phase(Protocol):
    """One step of a search: a state in, a state out.

    A phase is a frozen dataclass of its settings. It improves what it is given and depends on no
    other phase, so that a recipe may leave any of them out, or add one. One that looks for graphs
    may say ``searches = True``: where real graphs are known, restarts whose graph leaves nothing to
    be desired are then spared.
    """

    @property
    def name(self) -> str:
        """Name in callbacks, recipes and timings; also the seed of its random numbers."""

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Run the phase with streams of its own; the monitor says when to end early."""
