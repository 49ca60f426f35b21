"""What a term of the objective is, and what it may look at.

A term says one thing about graphs as answers, in two readings. The *soft* one is a loss for the
gradient, read off relaxed samples. The *discrete* one is a cost of discrete graphs, for everything
that tries and compares them. Both are to be made small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import Scores
from gnninterpreter.objective.aim import Aim, Aims
from gnninterpreter.objective.memory import Memory
from gnninterpreter.recording import recording
from gnninterpreter.typicality import EitherBank, Measuring, Strangeness

# The logarithm of a score that is 0, or of a graph that cannot be scored.
LOWEST = -100.0


@dataclass(frozen=True)
class Proposals:
    """B graphs and what the model says of them, as the discrete reading of a term sees them.

    Weights are 0 or 1, but for terms that say they are smooth. ``answers`` are the model's outputs,
    NaN for a graph without edges, or who asks the model about graphs and their keys as soon as
    anyone wants to know; the memory knows the graphs by ``keys``, [B]. The ``aim`` may be given as
    that of restarts which have as many graphs each, those of one beside each other.
    """

    graphs: DenseGraphs
    answers: Scores | Callable[[DenseGraphs, Tensor | None], Scores]
    aim: Aim | Aims
    keys: Tensor | None = None
    memory: Memory | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "aim", self.aim.rows(len(self.graphs)))

    @cached_property
    def scores(self) -> Scores:
        """The model's outputs."""
        known = self.answers
        return known if isinstance(known, Scores) else known(self.graphs, self.keys)

    @cached_property
    def log_score(self) -> Tensor:
        """Logarithm of how far each is what was asked for, [B]; very low where it has no score."""
        logs = self.aim.target.log_score(self.scores)
        return logs.nan_to_num(nan=LOWEST).clamp_min(LOWEST)

    @cached_property
    def strangeness(self) -> Strangeness | None:
        """How strange each is beside real graphs; None where none are known. Takes long."""
        if self.aim.bank is None:
            return None

        def measured(bank: Measuring | EitherBank, graphs: DenseGraphs) -> tuple[Tensor, ...]:
            found = bank.strangeness(graphs)
            return tuple(getattr(found, part.name) for part in fields(found))

        return Strangeness(*self._recalled("strangeness", measured))

    def untypical(self, bar: float) -> Tensor | None:
        """What each lacks of being as typical as a share of real graphs, [B]; None if unknown."""
        if self.aim.bank is None or self.strangeness is None:
            return None
        return self.aim.bank.penalty(self.strangeness, bar)

    def typical(self, bar: float) -> Tensor | None:
        """Whether each is as typical as a share of real graphs, [B]; None if that is unknown."""
        if self.aim.bank is None or not self.aim.judged:
            return None
        if recording():
            missing = self.untypical(bar)
            return None if missing is None else missing <= 0
        return self._recalled(f"typical {bar}", lambda bank, graphs: (bank.reaches(graphs, bar),))[
            0
        ]

    def _recalled(
        self,
        question: str,
        measure: Callable[[Measuring | EitherBank, DenseGraphs], tuple[Tensor, ...]],
    ) -> tuple[Tensor, ...]:
        """What a bank has measured of the graphs before, and of others now."""

        def measured(aim: Aim | Aims, graphs: DenseGraphs) -> tuple[Tensor, ...]:
            assert aim.bank is not None
            return measure(aim.bank, graphs)

        if self.memory is None or self.keys is None:
            return measured(self.aim, self.graphs)
        return self.memory.recall(
            question,
            self.aim.marked(self.keys),
            lambda new: measured(self.aim.select(new), self.graphs[new]),
        )

    def select(self, rows: Tensor) -> Proposals:
        """Some of the graphs."""
        known = self.__dict__.get("scores", self.answers)
        if isinstance(known, Scores):
            known = known.select(rows)
        keys = None if self.keys is None else self.keys[rows]
        return Proposals(self.graphs[rows], known, self.aim.select(rows), keys, self.memory)

    @cached_property
    def _costs(self) -> dict[int, tuple[Term, Tensor | None]]:
        return {}

    def cost_of(self, term: Term) -> Tensor | None:
        """The discrete reading of a term, computed once however many ask for it."""
        if id(term) not in self._costs:
            self._costs[id(term)] = (term, term.discrete(self))
        return self._costs[id(term)][1]

    @cached_property
    def edges(self) -> Tensor:
        """Number of edges, [B]."""
        return self.graphs.num_edges

    @cached_property
    def nodes(self) -> Tensor:
        """Number of nodes, [B]."""
        return self.graphs.num_nodes

    @cached_property
    def similarity(self) -> Tensor:
        """Cosine similarity to the mean embedding of the target, [B]; 1 where none is known."""
        found = self.alike
        return torch.ones_like(self.log_score) if found is None else found.nan_to_num(nan=-1.0)

    @cached_property
    def alike(self) -> Tensor | None:
        """The same; None where none is known, and NaN for a graph that cannot be scored."""
        return self.aim.likeness(self.scores.embedding)


@dataclass(frozen=True)
class Iterate:
    """One iteration of the gradient search, as the soft reading of a term sees it.

    K samples of each of R distributions, relaxed or, where the model cannot be, discrete; with
    logits [R, K, C] and embeddings [R, K, D].
    """

    distribution: GraphDistribution
    graphs: DenseGraphs
    scores: Scores
    aim: Aim | Aims

    @property
    def shape(self) -> tuple[int, int]:
        """Number of restarts R and of samples K."""
        return self.scores.logits.shape[0], self.scores.logits.shape[1]

    @cached_property
    def proposals(self) -> Proposals:
        """The samples as a discrete reading sees them, [R * K]."""
        flat = Scores(
            self.scores.logits.flatten(0, 1), self.scores.embedding.flatten(0, 1), self.scores.task
        )
        return Proposals(self.graphs, flat, self.aim)


class Term:
    """One term of the objective; a subclass is a frozen dataclass that overrides its readings.

    A term of one's own needs `discrete` alone. If it is written in operations that can be
    differentiated, and means something for weights between 0 and 1, say ``smooth = True``: the
    gradient then reads it off the relaxed samples, and local search follows its slope.
    """

    smooth: ClassVar[bool] = False
    """Whether `discrete` can be differentiated through soft graphs."""

    costly: ClassVar[bool] = False
    """Whether `discrete` takes long, and is left out where it cannot decide anything."""

    required: ClassVar[bool] = True
    """Whether walks go on while it costs anything; no for mere preferences, such as size."""

    @property
    def name(self) -> str:
        """Name in histories and reports."""
        return type(self).__name__

    def soft(self, iterate: Iterate) -> Tensor | None:
        """The loss of each sample [R, K] or of each restart [R]; None takes no part."""
        if not self.smooth:
            return None
        cost = self.discrete(iterate.proposals)
        return None if cost is None else cost.view(iterate.shape)

    def discrete(self, proposals: Proposals) -> Tensor | None:
        """The cost of each graph, [B]; None takes no part."""
        return None

    def guide(self, proposals: Proposals) -> Tensor | None:
        """The same with a gentler slope, for walks that start far away; the cost when omitted."""
        return proposals.cost_of(self)

    def feasible(self, proposals: Proposals) -> Tensor | None:
        """Which graphs may be answers at all, [B]; None allows all."""
        return None

    def met(self, proposals: Proposals) -> Tensor | None:
        """Which graphs leave nothing to be desired, [B]; None where this term wants nothing."""
        allowed = self.feasible(proposals)
        cost = proposals.cost_of(self) if self.required else None
        if cost is None:
            return allowed
        return cost <= 0 if allowed is None else allowed & (cost <= 0)
