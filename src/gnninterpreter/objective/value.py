"""The target of a regression: as high as it gets, as low as it gets, or near a number."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import pstdev
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.arguments import real_number, several
from gnninterpreter.errors import TargetError
from gnninterpreter.models.classifier import Scores
from gnninterpreter.models.members import DECILES
from gnninterpreter.models.profile import CERTAIN, QUANTILES, Profile
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.target import NOT_MEASURED, Target


@dataclass(frozen=True)
class ValueTarget(Target):
    r"""A value of a regression: as high as it gets, as low as it gets, or near a number.

    For ``"max"`` the score is :math:`\sigma(a + a (v - r) / u)`, with :math:`a` such that it is
    0.99 where the value reaches ``reach``; ``"min"`` mirrors it. For a number it is 0.99 where the
    value is off by ``unit``, and falls with the square of the distance. ``scale`` are quantiles of
    what the model gives real graphs; empty where that is not known.
    """

    aim: str | float
    reach: float
    unit: float
    output: str = "value"
    scale: tuple[float, ...] = ()

    kind: ClassVar[str] = "value"
    noun: ClassVar[str] = "such a value"
    members: ClassVar[str] = "with such values"
    probable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        scale = tuple(real_number("scale", one) for one in several("scale", self.scale, "numbers"))
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "reach", real_number("reach", self.reach))
        object.__setattr__(self, "unit", real_number("unit", self.unit))
        if not isinstance(self.aim, str):
            object.__setattr__(self, "aim", real_number("aim", self.aim))
        elif self.aim not in ("max", "min"):
            raise TargetError(f"a value is 'max', 'min' or a number (got {self.aim!r:.60})")
        if not self.unit > 0:
            raise TargetError(f"the unit of a value must be positive (got {self.unit})")

    def log_score(self, scores: Scores) -> Tensor:
        """Logarithm of how far the value is where it is asked to be."""
        value = scores.logits[..., self.index]
        if isinstance(self.aim, str):
            sign = 1.0 if self.aim == "max" else -1.0
            slope = math.log(CERTAIN / (1 - CERTAIN))
            beyond = sign * (value - self.reach) / self.unit
            return torch.nn.functional.logsigmoid(slope * (1 + beyond))
        return math.log(CERTAIN) * ((value - self.aim) / self.unit).square()

    def profile(self, statistics: ClassStatistics | None) -> Profile | None:
        """What the graphs of the tenth look like in which the value lies."""
        if statistics is None or not statistics.value_quantiles.numel():
            return None
        if isinstance(self.aim, str):
            tenth = DECILES - 1 if self.aim == "max" else 0
        else:
            below = (statistics.value_quantiles[self.index] < self.aim).sum()
            tenth = min(int(below) * DECILES // QUANTILES, DECILES - 1)
        return statistics.profile(self.index * DECILES + tenth)

    def raw_score(self, scores: Scores) -> Tensor:
        """The value, or its negative where it is to be small, or minus its distance."""
        value = scores.logits[..., self.index]
        if isinstance(self.aim, str):
            return value if self.aim == "max" else -value
        return -(value - self.aim).abs()

    amount = raw_score

    def assigned(self, scores: Scores) -> Tensor:
        """Whether the value is as far out, or as near, as was asked for."""
        return self.log_score(scores) >= math.log(CERTAIN)

    def true_of(self, label: Tensor) -> bool | None:
        """Whether the labelled value is as far out, or as near."""
        value = float(label.reshape(-1)[self.index])
        if math.isnan(value):
            return None
        if isinstance(self.aim, str):
            return value >= self.reach if self.aim == "max" else value <= self.reach
        return abs(value - self.aim) <= self.unit

    @property
    def quantity(self) -> str:
        """What the score is."""
        if isinstance(self.aim, str):
            return f"degree to which {self.output} is {'high' if self.aim == 'max' else 'low'}"
        return f"nearness of {self.output} to {self.aim:g}"

    @property
    def title(self) -> str:
        """What it is called in a heading."""
        if isinstance(self.aim, str):
            return f"{'Highest' if self.aim == 'max' else 'Lowest'} {self.output}"
        return f"{self.output} near {self.aim:g}"

    @property
    def measure(self) -> str:
        """The name of the value."""
        return self.output

    @property
    def asked(self) -> str:
        """Which values count as what was asked for."""
        if isinstance(self.aim, str):
            return f"{self.figure(self.reach)} or {'more' if self.aim == 'max' else 'less'}"
        return f"{self.figure(self.aim - self.unit)} to {self.figure(self.aim + self.unit)}"

    @property
    def span(self) -> float:
        """How far values spread over real graphs."""
        return (pstdev(self.scale) if self.scale else 0.0) or self.unit

    def figure(self, value: float) -> str:
        """A value with as many digits as its scale asks for."""
        return f"{value:.{max(0, 2 - math.floor(math.log10(self.span)))}f}"

    def written(self, means: Sequence[float], spreads: Sequence[float] = ()) -> str:
        """The value by its name."""
        beside = f" ± {self.figure(spreads[self.index])}" if spreads else ""
        return f"{self.output} {self.figure(means[self.index])}{beside}"

    def said(self, outputs: Sequence[float]) -> str:
        """The value by its name."""
        return self.written(outputs)

    def percentile(self, value: float) -> float | None:
        """Share of real graphs that the model gives less, in percent; None where not known."""
        if not self.scale:
            return None
        return 100.0 * bisect_left(self.scale, value) / len(self.scale)

    def place(self, value: float) -> str:
        """Where a value lies among those of real graphs, in words; nothing where not known."""
        below = self.percentile(value)
        if below is None:
            return ""
        word, share = ("above", below) if below >= 50 else ("below", 100 - below)
        return f"{word} {'all' if share > 99.5 else f'{share:.0f}% of'} real graphs"

    def changed(self, fall: float) -> str:
        """What a fall of `amount` means, in words."""
        size = self.figure(abs(fall))
        if not isinstance(self.aim, str):
            return f"{self.output} goes {size} {'away' if fall >= 0 else 'nearer'}"
        falls = (self.aim == "max") == (fall >= 0)
        return f"{self.output} {'falls' if falls else 'rises'} by {size}"

    def truth(self, label: Tensor | None, names: Sequence[str]) -> str:
        """What was measured of a real graph."""
        if label is None or label.numel() != len(names):
            return ""
        value = float(label.reshape(-1)[self.index])
        return NOT_MEASURED if math.isnan(value) else f"measured {self.figure(value)}"
