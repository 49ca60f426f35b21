"""The state of a search, which every phase takes and returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Protocol

from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.problem import Evaluation, Problem

__all__ = ["History", "Phase", "Reason", "State"]


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


@dataclass(frozen=True)
class State:
    """R restarts between two phases.

    Args:
        distribution: The R distributions.
        graphs: The most probable graph of each, on the candidate nodes.
        evaluation: What the objective makes of these graphs.
        reasons: Why the gradient search of each ended.
        iterations: Gradient iterations that each took.
        history: What was seen along the way.
        seconds: Time that each phase took, by its name.
    """

    distribution: GraphDistribution
    graphs: DenseGraphs
    evaluation: Evaluation
    reasons: tuple[Reason, ...] = ()
    iterations: tuple[int, ...] = ()
    history: History = field(default_factory=History)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def begin(cls, distribution: GraphDistribution, problem: Problem) -> State:
        """The state before any phase."""
        count, graphs = distribution.restarts, distribution.mode()
        reasons = (Reason.PLATEAU,) * count
        return cls(distribution, graphs, problem.evaluate(graphs), reasons, (0,) * count)

    def with_(self, **changes: Any) -> State:
        """The same state with other fields."""
        return replace(self, **changes)


class Phase(Protocol):
    """One step of a search: a state in, a state out.

    A phase is a frozen dataclass of its settings. It improves what it is given and depends on no
    other phase, so that a recipe may leave any of them out, or add one.
    """

    @property
    def name(self) -> str:
        """Name in callbacks, recipes and timings; also the seed of its random numbers."""

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Run the phase.

        Args:
            problem: What is to be solved.
            state: What there is so far.
            streams: One source of randomness for each restart, this phase's own.
            monitor: To be told how the phase goes; it says when to end early.
        """
