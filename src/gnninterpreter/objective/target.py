"""Targets: what is asked of a model, as a score between 0 and 1 that the rest can work with.

A target turns the model's outputs into how far they are what was asked for: the probability of a
class, that of one label, nearness to a value, or nearness to the boundary between two classes.
Search, evidence and reports know nothing else about the model's task. A new kind of question is a
new target.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import torch
from torch import Tensor

from gnninterpreter.errors import CheckpointError, TargetError
from gnninterpreter.models.classifier import Scores
from gnninterpreter.models.statistics import (
    CERTAIN,
    DECILES,
    QUANTILES,
    ClassStatistics,
    Profile,
)

__all__ = [
    "BoundaryTarget",
    "ClassTarget",
    "LabelTarget",
    "Target",
    "ValueTarget",
    "target_from_json",
]


@dataclass(frozen=True)
class Target(ABC):
    """What is asked of the model.

    Args:
        index: Column of the model's outputs that it is about.
        name: What users call it: the key of its explanation.
    """

    index: int
    name: str

    kind: ClassVar[str]

    @abstractmethod
    def log_score(self, scores: Scores) -> Tensor:
        """Logarithm of how far outputs are what was asked for, [B], at most 0."""

    def score(self, scores: Scores) -> Tensor:
        """How far outputs are what was asked for, [B], between 0 and 1."""
        return self.log_score(scores).exp()

    def raw_score(self, scores: Scores) -> Tensor:
        """The output itself, before any softmax, [B]; the paper maximises this one."""
        return scores.logits[..., self.index]

    @abstractmethod
    def assigned(self, scores: Scores) -> Tensor:
        """Whether the model gives each graph what was asked for, [B]."""

    @abstractmethod
    def true_of(self, label: Tensor) -> bool | None:
        """Whether a graph with this label is an example; None where the label does not say."""

    @property
    @abstractmethod
    def quantity(self) -> str:
        """What the score is, in words that follow "the"."""

    def profile(self, statistics: ClassStatistics | None) -> Profile | None:
        """What real graphs of the target look like; None where nothing is known of them."""
        return None if statistics is None else statistics.profile(self.index)

    def to_json(self) -> dict[str, Any]:
        """Return the target as plain JSON values."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class ClassTarget(Target):
    """One class of a model that gives each graph exactly one; binary models included."""

    kind: ClassVar[str] = "class"

    def log_score(self, scores: Scores) -> Tensor:
        """Log-probability of the class."""
        return scores.logits.log_softmax(-1)[..., self.index]

    def assigned(self, scores: Scores) -> Tensor:
        """Whether the class is the most probable one."""
        known = ~scores.logits.isnan().any(-1)
        return (scores.logits.argmax(-1) == self.index) & known

    def true_of(self, label: Tensor) -> bool | None:
        """Whether the label is this class."""
        value = float(label.reshape(-1)[0])
        return None if math.isnan(value) else int(value) == self.index

    @property
    def quantity(self) -> str:
        """What the score is."""
        return f"probability of class {self.name!r}"


@dataclass(frozen=True)
class LabelTarget(Target):
    """One label of a model that gives each graph any number of them."""

    kind: ClassVar[str] = "label"

    def log_score(self, scores: Scores) -> Tensor:
        """Log-probability of the label."""
        return torch.nn.functional.logsigmoid(scores.logits[..., self.index])

    def assigned(self, scores: Scores) -> Tensor:
        """Whether the label is more probable than not."""
        return scores.logits[..., self.index] > 0

    def true_of(self, label: Tensor) -> bool | None:
        """Whether the label is set; None where it was not measured."""
        value = float(label.reshape(-1)[self.index])
        return None if math.isnan(value) else value > 0.5

    @property
    def quantity(self) -> str:
        """What the score is."""
        return f"probability of label {self.name!r}"


@dataclass(frozen=True)
class ValueTarget(Target):
    r"""A value of a regression: as high as it gets, as low as it gets, or near a number.

    For ``"max"`` the score is :math:`\sigma(a + a (v - r) / u)`, with :math:`a` such that it is
    0.99 where the value reaches ``reach``; ``"min"`` mirrors it. For a number it is 0.99 where the
    value is off by ``unit``, and falls with the square of the distance.

    Args:
        aim: ``"max"``, ``"min"`` or the number.
        reach: The value that counts as very high, or as very low.
        unit: The scale of values; for a number, how far off still counts as there.
    """

    aim: str | float
    reach: float
    unit: float

    kind: ClassVar[str] = "value"

    def __post_init__(self) -> None:
        """Check the aim and the scale."""
        if isinstance(self.aim, str) and self.aim not in ("max", "min"):
            raise TargetError(f"a value is 'max', 'min' or a number (got {self.aim!r})")
        if not (isinstance(self.aim, str) or math.isfinite(self.aim)):
            raise TargetError(f"a value to explain must be finite (got {self.aim})")
        if not (self.unit > 0 and math.isfinite(self.unit)):
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
            word = "high" if self.aim == "max" else "low"
            return f"degree to which the value is {word}"
        return f"nearness of the value to {self.aim:g}"


@dataclass(frozen=True)
class BoundaryTarget(Target):
    r"""The boundary between two classes: both as probable as each other, and no third one.

    The score is :math:`(p_a + p_b) \cdot 0.99^{(d / w)^2}` with :math:`d = \log p_a - \log p_b`
    and :math:`w = \log 1.5`: it is 0.99 where one has 0.6 and the other 0.4, which is GNNBoundary's
    band.

    Args:
        other: Column of the second class.
        names: Names of both.
    """

    other: int
    names: tuple[str, str]

    kind: ClassVar[str] = "boundary"
    WIDTH: ClassVar[float] = math.log(0.6 / 0.4)

    def __post_init__(self) -> None:
        """Check that there are two classes."""
        object.__setattr__(self, "names", tuple(self.names))
        if self.index == self.other:
            raise TargetError(f"a boundary lies between two classes (got {self.name!r})")

    def log_score(self, scores: Scores) -> Tensor:
        """Logarithm of how far both classes are equally probable, and no third one."""
        logs = scores.logits.log_softmax(-1)
        pair = logs[..., [self.index, self.other]]
        distance = (pair[..., 0] - pair[..., 1]) / self.WIDTH
        return pair.logsumexp(-1).clamp_max(0.0) + math.log(CERTAIN) * distance.square()

    def profile(self, statistics: ClassStatistics | None) -> Profile | None:
        """What graphs of both classes look like together."""
        return None if statistics is None else statistics.profile(self.index, self.other)

    def raw_score(self, scores: Scores) -> Tensor:
        """The smaller of the two outputs."""
        return torch.minimum(scores.logits[..., self.index], scores.logits[..., self.other])

    def assigned(self, scores: Scores) -> Tensor:
        """Whether both probabilities lie between 0.4 and 0.6."""
        pair = scores.logits.softmax(-1)[..., [self.index, self.other]]
        return ((pair >= 0.4) & (pair <= 0.6)).all(-1)

    def true_of(self, label: Tensor) -> bool | None:
        """Whether the label is one of the two."""
        value = float(label.reshape(-1)[0])
        return None if math.isnan(value) else int(value) in (self.index, self.other)

    @property
    def quantity(self) -> str:
        """What the score is."""
        return f"nearness to the boundary between {self.names[0]!r} and {self.names[1]!r}"


KINDS: dict[str, type[Target]] = {
    kind.kind: kind for kind in (ClassTarget, LabelTarget, ValueTarget, BoundaryTarget)
}


def target_from_json(values: Mapping[str, Any]) -> Target:
    """Read what `Target.to_json` wrote.

    Raises:
        CheckpointError: If it is none of the kinds, or a field is missing or of another type.
    """
    kind = KINDS.get(str(values.get("kind")))
    if kind is None:
        raise CheckpointError(f"there is no target of kind {values.get('kind')!r}")
    wanted = {field.name for field in fields(kind)}
    given = {name: value for name, value in values.items() if name != "kind"}
    if set(given) != wanted or not isinstance(given["index"], int):
        raise CheckpointError(f"a stored target of kind {kind.kind!r} has other fields than it has")
    try:
        return kind(**given)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"a stored target cannot be read: {error}") from error
