"""Decisiveness: push each edge and category towards yes or no."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gnninterpreter.objective.base import Iterate, Term


@dataclass(frozen=True)
class Entropy(Term):
    """The entropy of the distribution in bits, for each edge of the limit.

    Not in the paper, which leaves distributions open and so lets samples differ from the mode. A
    pressure that rises late in the search closes what certainty has not decided by then.
    """

    @property
    def name(self) -> str:
        """Name in histories and reports."""
        return "entropy"

    def soft(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        return iterate.distribution.entropy() / iterate.aim.max_edges
