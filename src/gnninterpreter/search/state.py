"""The state of a search, which every phase takes and returns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Protocol

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams, centred
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.problem import Evaluation, Problem

FIGURES, TERM = ("probability", "expected_edges", "similarity"), "term: "


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
        seen = [(dict(zip(one.iteration, one._seen(), strict=True)), n) for one, n in parts]
        rows = [row for checks, _ in seen for row in checks.values()]
        names = dict.fromkeys(name for row in rows for name in row)

        def at(check: int, name: str) -> Tensor:
            like = rows[0]["probability"]
            parts = [
                known.get(check, {}).get(name, like.new_full((count,), math.nan))
                for known, count in seen
            ]
            return torch.cat(parts)

        checks = sorted({check for known, _ in seen for check in known})
        return History._of(checks, [{name: at(check, name) for name in names} for check in checks])

    def select(self, rows: Tensor | slice, until: int | None = None) -> History:
        """The same of some restarts, up to an iteration."""
        checks = [at for at in self.iteration if until is None or at <= until]
        rows_of = zip(checks, self._seen(), strict=False)
        seen = [{name: value[rows] for name, value in row.items()} for _, row in rows_of]
        return History._of(checks, seen)

    def merged(self, rows: Tensor, some: History, total: int) -> History:
        """What some restarts have seen since; of the others nothing is known of the same checks."""
        # A phase that has seen nothing hands back what it was given: the others keep theirs.
        before: list[dict[str, Tensor]] = [{}] * len(some.iteration)
        if self.iteration == some.iteration:
            before = self._seen()
        seen = [
            {
                name: mine.get(name, value.new_full((total,), math.nan)).index_copy(0, rows, value)
                for name, value in row.items()
            }
            for row, mine in zip(some._seen(), before, strict=True)
        ]
        return History._of(some.iteration, seen)

    def _seen(self) -> list[dict[str, Tensor]]:
        """What was seen at each check by name, terms behind the rest."""
        rows = zip(*(getattr(self, name) for name in FIGURES), self.terms, strict=True)
        return [
            {**dict(zip(FIGURES, row, strict=False)), **{TERM + k: v for k, v in row[-1].items()}}
            for row in rows
        ]

    @staticmethod
    def _of(checks: list[int], seen: list[dict[str, Tensor]]) -> History:
        score, edges, alike = ([row[name] for row in seen] for name in FIGURES)
        terms = [
            {name.removeprefix(TERM): value for name, value in row.items() if TERM in name}
            for row in seen
        ]
        return History(list(checks), score, edges, alike, terms)


@dataclass(frozen=True)
class State:
    """R restarts between two phases: distributions, their most probable graphs, what was seen.

    ``population`` are different graphs of each target that are certain and typical, where samples
    come from; None where they come from the distributions. ``shortcuts`` are certain and unlike
    anything real. ``found`` says of which restarts the graph was found by a phase, [R]: others have
    only the distribution that they begin with.
    """

    distribution: GraphDistribution
    graphs: DenseGraphs
    evaluation: Evaluation
    found: Tensor
    reasons: tuple[Reason, ...] = ()
    iterations: tuple[int, ...] = ()
    history: History = field(default_factory=History)
    population: tuple[DenseGraphs | None, ...] = (None,)
    shortcuts: tuple[DenseGraphs | None, ...] = (None,)

    @classmethod
    def begin(cls, distribution: GraphDistribution, problem: Problem) -> State:
        """The state before any phase."""
        count, graphs = distribution.restarts, distribution.mode()
        reasons = (Reason.PLATEAU,) * count
        nothing = (None,) * len(problem.aim.aims)
        return cls(
            distribution,
            graphs,
            problem.evaluate(graphs),
            torch.zeros(count, dtype=torch.bool, device=graphs.weight.device),
            reasons,
            (0,) * count,
            population=nothing,
            shortcuts=nothing,
        )

    def with_(self, **changes: Any) -> State:
        """The same state with other fields."""
        return replace(self, **changes)

    def at(self, graphs: DenseGraphs, evaluation: Evaluation) -> State:
        """The same at other graphs, which the distributions are brought along to."""
        near = centred(self.distribution, graphs)
        return self.with_(distribution=near, graphs=graphs, evaluation=evaluation)

    def select(self, rows: Tensor) -> State:
        """The same of some restarts."""
        places = rows.tolist()
        return replace(
            self,
            distribution=self.distribution.select(rows),
            graphs=self.graphs[rows],
            evaluation=self.evaluation.select(rows),
            found=self.found[rows],
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
            graphs=self.graphs.merged(rows, some.graphs),
            evaluation=self.evaluation.merged(rows, some.evaluation),
            found=self.found.index_copy(0, rows, some.found),
            reasons=tuple(reasons),
            iterations=tuple(iterations),
            history=self.history.merged(rows, some.history, len(self.reasons)),
        )


class Phase(Protocol):
    """One step of a search: a state in, a state out.

    A phase is a frozen dataclass of its settings. It improves what it is given and depends on no
    other phase, so that a recipe may leave any of them out, or add one. One that looks for graphs
    may say ``searches = True``: where real graphs are known, restarts whose graph leaves nothing to
    be desired are then spared. One whose time depends on how large graphs are may say ``narrows =
    True``: targets with graphs of very different sizes then go one after the other on a CPU.
    """

    @property
    def name(self) -> str:
        """Name in callbacks, recipes and timings; also the seed of its random numbers."""

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Run the phase with streams of its own; the monitor says when to end early."""
