"""The target between two classes: what the model cannot tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import huber_loss

from gnninterpreter.arguments import several, whole_number
from gnninterpreter.errors import TargetError
from gnninterpreter.models.classifier import Scores
from gnninterpreter.models.profile import CERTAIN, Profile
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.target import Target


@dataclass(frozen=True)
class BoundaryTarget(Target):
    r"""The boundary between two classes: both as probable as each other, and no third one.

    The score is :math:`(p_a + p_b) \cdot 0.99^{(d / w)^2}` with :math:`d = \log p_a - \log p_b` and
    :math:`w = \log 1.5`: it is 0.99 where one has 0.6 and the other 0.4, which is GNNBoundary's
    band. Far away it falls as :math:`e^{-d}`, the share of the lesser one, so that a search still
    sees a slope where a model is steep.
    """

    other: int
    names: tuple[str, str]

    kind: ClassVar[str] = "boundary"
    noun: ClassVar[str] = "the boundary"
    members: ClassVar[str] = "of both classes"
    probable: ClassVar[bool] = False
    measure: ClassVar[str] = "both probabilities"
    asked: ClassVar[str] = "0.4 to 0.6 for both"
    WIDTH: ClassVar[float] = math.log(0.6 / 0.4)
    BAND: ClassVar[tuple[float, float]] = (0.4, 0.6)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "other", whole_number("other", self.other, 0))
        object.__setattr__(self, "names", several("names", self.names, "two names of classes"))
        if len(self.names) != 2 or not all(isinstance(name, str) for name in self.names):
            raise TargetError(f"names must be those of two classes (got {self.names!r:.60})")
        if self.index == self.other:
            raise TargetError(f"a boundary lies between two classes (got {self.name!r})")

    def log_score(self, scores: Scores) -> Tensor:
        """Logarithm of how far both classes are equally probable, and no third one."""
        logs = scores.logits.log_softmax(-1)
        pair = logs[..., [self.index, self.other]]
        distance = pair[..., 0] - pair[..., 1]
        # Huber's: half the curvature times the square, and a slope of 1 from there on.
        bend = -2 * math.log(CERTAIN) / self.WIDTH**2
        apart = bend * huber_loss(distance, torch.zeros_like(distance), "none", 1 / bend)
        return pair.logsumexp(-1).clamp_max(0.0) - apart

    def profile(self, statistics: ClassStatistics | None) -> Profile | None:
        """What graphs of both classes look like together."""
        return None if statistics is None else statistics.profile(self.index, self.other)

    def raw_score(self, scores: Scores) -> Tensor:
        """The smaller of the two outputs."""
        return torch.minimum(scores.logits[..., self.index], scores.logits[..., self.other])

    def assigned(self, scores: Scores) -> Tensor:
        """Whether both probabilities lie between 0.4 and 0.6."""
        low, high = self.BAND
        pair = scores.logits.softmax(-1)[..., [self.index, self.other]]
        return ((pair >= low) & (pair <= high)).all(-1)

    def true_of(self, label: Tensor) -> bool | None:
        """None: what lies between classes has no label of its own."""
        return None

    @property
    def quantity(self) -> str:
        """What the score is."""
        return f"nearness to the boundary between {self.names[0]!r} and {self.names[1]!r}"

    @property
    def title(self) -> str:
        """What it is called in a heading."""
        return f"Between {self.names[0]} and {self.names[1]}"

    def written(self, means: Sequence[float], spreads: Sequence[float] = ()) -> str:
        """Both probabilities."""
        each = [
            f"{means[i]:.2f}" + (f" ± {spreads[i]:.2f}" if spreads else "")
            for i in (self.index, self.other)
        ]
        return " and ".join(each)

    def changed(self, fall: float) -> str:
        """What a fall of `amount` means, in words."""
        word = "falls" if fall >= 0 else "rises"
        return f"the nearness to the boundary {word} by {abs(fall):.2f}"
