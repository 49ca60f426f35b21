"""Numbers that change with the iteration: small values, composed by a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Schedule(Protocol):
    """A number for each iteration."""

    def __call__(self, iteration: int, iterations: int) -> float:
        """Return the number at an iteration (counted from 0) of a search of that many."""


@dataclass(frozen=True)
class Constant:
    """The same number throughout."""

    value: float

    def __call__(self, iteration: int, iterations: int) -> float:
        """Return the number."""
        return self.value


@dataclass(frozen=True)
class WarmUp:
    """From 0 to ``value`` in equal steps over the first ``steps`` iterations, then constant.

    Example:
        >>> WarmUp(10.0, steps=500)(250, 2000)
        5.0
    """

    value: float
    steps: int

    def __call__(self, iteration: int, iterations: int) -> float:
        """Return the number at an iteration."""
        return self.value * min(1.0, iteration / self.steps) if self.steps else self.value


@dataclass(frozen=True)
class Ramp:
    """From ``start`` to ``end`` in equal steps between two shares of the search.

    Example:
        >>> Ramp(0.0, 1.0, begin=0.5)(75, 100)
        0.5
    """

    start: float
    end: float
    begin: float = 0.0
    finish: float = 1.0

    def __call__(self, iteration: int, iterations: int) -> float:
        """Return the number at an iteration."""
        share = iteration / max(iterations, 1)
        position = (share - self.begin) / max(self.finish - self.begin, 1e-9)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, position))
