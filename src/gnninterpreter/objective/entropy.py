"""Decisiveness: push each edge and category towards yes or no."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gnninterpreter.objective.base import Iterate

__all__ = ["Entropy"]


@dataclass(frozen=True)
class Entropy:
    """What is still undecided in the distribution, in bits, for each edge of the limit.

    Not in the paper, which leaves distributions open and so lets samples differ from the mode. A
    pressure that rises late in the search closes what the class score has not decided by then.
    """

    name: str = "entropy"
    per_sample: bool = False

    def __call__(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        return iterate.distribution.undecided() / iterate.goal.max_edges
