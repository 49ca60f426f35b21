"""Certainty: how far the model says what was asked for (paper, equation 1, first term)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from gnninterpreter.objective.base import Iterate, Proposals, Term


@dataclass(frozen=True)
class Certainty(Term):
    r"""The log-score of the target, :math:`-\log p_c` for a class.

    Differs from the paper: it maximises the raw output. The log-score saturates once the model is
    sure, which leaves room for the other terms, and its scale does not depend on the model's.
    """

    name: ClassVar[str] = "certainty"
    smooth: ClassVar[bool] = True

    def soft(self, iterate: Iterate) -> Tensor:
        """Return [R, K]."""
        return -iterate.aim.target.log_score(iterate.scores)

    def discrete(self, proposals: Proposals) -> Tensor:
        """What is missing to near certainty, in nats, [B]."""
        return (proposals.aim.log_enough - proposals.log_score).clamp_min(0)

    def met(self, proposals: Proposals) -> Tensor:
        """Whether the score is what counts as certain, [B]."""
        return proposals.log_score >= proposals.aim.log_certain

    def guide(self, proposals: Proposals) -> Tensor:
        """The same on a logarithmic scale, on which a score of 1e-30 is not hopeless, [B]."""
        return (-proposals.log_score).clamp_min(0).log1p()


@dataclass(frozen=True)
class RawScore(Term):
    r"""The raw output before any softmax, :math:`-\phi_c`, as the paper has it.

    It can grow without end while another class's grows faster; `Certainty` does not have that flaw.
    """

    name: ClassVar[str] = "class score"
    smooth: ClassVar[bool] = True

    def soft(self, iterate: Iterate) -> Tensor:
        """Return [R, K]."""
        return -iterate.aim.target.raw_score(iterate.scores)

    def discrete(self, proposals: Proposals) -> Tensor:
        """Return [B]; a graph that cannot be scored has the worst."""
        return -proposals.aim.target.raw_score(proposals.scores).nan_to_num(nan=-1e3)
