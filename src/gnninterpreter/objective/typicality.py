"""Typicality: how far a graph could be one of its class, by its own structure and features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from gnninterpreter.errors import SpecError
from gnninterpreter.objective.base import Proposals, Term
from gnninterpreter.typicality import BAR


@dataclass(frozen=True)
class Typical(Term):
    """How far a graph is from being as typical of its class as some of the real graphs are.

    Not in the paper, which looks for what a model is certain of and finds its blind spots. Nothing
    where no real graphs are known.

    Args:
        bar: Percentile among real graphs from which on more is no gain.
    """

    bar: float = BAR

    name: ClassVar[str] = "typicality"
    costly: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.bar <= 100:
            raise SpecError(f"bar must be between 0 and 100 (got {self.bar!r})")

    def discrete(self, proposals: Proposals) -> Tensor | None:
        """What is missing to the bar, [B]."""
        return proposals.untypical(self.bar)
