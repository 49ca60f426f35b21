"""Targets: what is asked of a model, as a score between 0 and 1 that the rest can work with.

A target turns the model's outputs into how far they are what was asked for: the probability of a
class, that of one label, nearness to a value (`value`), or nearness to the boundary between two
classes (`boundary`). It also has the words: evidence, reports and pages know nothing else about the
model's task. A new kind of question is a new target.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, ClassVar

import torch
from torch import Tensor

from gnninterpreter.arguments import whole_number
from gnninterpreter.errors import CheckpointError, GNNInterpreterError, TargetError
from gnninterpreter.models.classifier import Scores
from gnninterpreter.models.profile import Profile
from gnninterpreter.models.statistics import ClassStatistics

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Target(ABC):
    """What is asked of the model: a column of its outputs, by the name that users have for it."""

    index: int
    name: str

    kind: ClassVar[str]
    noun: ClassVar[str]
    """What is asked for, in a sentence: "the class"."""
    members: ClassVar[str]
    """Which real graphs show it, in words that follow "graphs"."""
    probable: ClassVar[bool] = True
    """Whether the score is a probability, which models are certain of or not."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", whole_number("index", self.index, 0))
        if not isinstance(self.name, str):
            raise TargetError(f"name must be the target's name (got {self.name!r:.60})")

    @abstractmethod
    def log_score(self, scores: Scores) -> Tensor:
        """Logarithm of how far outputs are what was asked for, [B], at most 0."""

    def score(self, scores: Scores) -> Tensor:
        """How far outputs are what was asked for, [B], between 0 and 1."""
        return self.log_score(scores).exp()

    def given(self, scores: Scores) -> Tensor:
        """The same with more digits, [B]; 0 where the model has no answer."""
        return self.score(scores).double().nan_to_num(nan=0.0)

    def raw_score(self, scores: Scores) -> Tensor:
        """The output itself, before any softmax, [B]; the paper maximises this one."""
        return scores.logits[..., self.index]

    def amount(self, scores: Scores) -> Tensor:
        """What a change of a graph is measured in, [B]; less is farther from the target."""
        return self.score(scores)

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

    @property
    def title(self) -> str:
        """What it is called in a heading."""
        return self.name

    @property
    def measure(self) -> str:
        """What the model says of a graph, in a word or two."""
        return "probability"

    @property
    def asked(self) -> str:
        """Which outputs count as what was asked for."""
        return ""

    @property
    def span(self) -> float:
        """How large a change of `amount` is large."""
        return 1.0

    def written(self, means: Sequence[float], spreads: Sequence[float] = ()) -> str:
        """Outputs as figures, with what they vary by where that is given."""
        beside = f" ± {spreads[self.index]:.3f}" if spreads else ""
        return f"{means[self.index]:.3f}{beside}"

    def said(self, outputs: Sequence[float]) -> str:
        """What the model says of one graph, as short as can be."""
        return f"p = {self.written(outputs)}"

    def changed(self, fall: float) -> str:
        """What a fall of `amount` means, in words."""
        return f"the {self.measure} {'falls' if fall >= 0 else 'rises'} by {abs(fall):.2f}"

    def truth(self, label: Tensor | None, names: Sequence[str]) -> str:
        """What the label of a real graph says, in words; nothing where it says nothing."""
        value = _class_of(label)
        return f"labelled {names[int(value)]}" if value in range(len(names)) else ""

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
    noun: ClassVar[str] = "the class"
    members: ClassVar[str] = "of the class"

    def log_score(self, scores: Scores) -> Tensor:
        """Log-probability of the class."""
        return scores.logits.log_softmax(-1)[..., self.index]

    def assigned(self, scores: Scores) -> Tensor:
        """Whether the class is the most probable one."""
        known = ~scores.logits.isnan().any(-1)
        return (scores.logits.argmax(-1) == self.index) & known

    def true_of(self, label: Tensor) -> bool | None:
        """Whether the label is this class."""
        value = _class_of(label)
        return None if math.isnan(value) else int(value) == self.index

    @property
    def quantity(self) -> str:
        """What the score is."""
        return f"probability of class {self.name!r}"


@dataclass(frozen=True)
class LabelTarget(Target):
    """One label of a model that gives each graph any number of them."""

    kind: ClassVar[str] = "label"
    noun: ClassVar[str] = "the label"
    members: ClassVar[str] = "with the label"

    def log_score(self, scores: Scores) -> Tensor:
        """Log-probability of the label."""
        return torch.nn.functional.logsigmoid(scores.logits[..., self.index])

    def assigned(self, scores: Scores) -> Tensor:
        """Whether the label is more probable than not."""
        return scores.logits[..., self.index] > 0

    def true_of(self, label: Tensor) -> bool | None:
        """Whether the label is set; None where it was not measured."""
        value = float(label.reshape(-1)[self.index])
        return None if math.isnan(value) or value < 0 else value > 0.5

    def truth(self, label: Tensor | None, names: Sequence[str]) -> str:
        """Whether a real graph has the label."""
        if label is None or label.numel() != len(names):
            return ""
        has = self.true_of(label)
        return NOT_MEASURED if has is None else f"labelled {'' if has else 'not '}{self.name}"

    @property
    def quantity(self) -> str:
        """What the score is."""
        return f"probability of label {self.name!r}"


def _class_of(label: Tensor | None) -> float:
    """The number of the class that a label says, one-hot or not; NaN where it says none."""
    row = torch.tensor([]) if label is None else torch.as_tensor(label).reshape(-1)
    if row.numel() == 1:
        return float(row)
    hot = row.numel() > 1 and bool(((row == 0) | (row == 1)).all()) and int(row.sum()) == 1
    return float(row.argmax()) if hot else math.nan


def target_from_json(values: Mapping[str, Any]) -> Target:
    """Read what `Target.to_json` wrote."""
    if not isinstance(values, Mapping):
        raise CheckpointError(f"a stored target must be an object (got {values!r:.60})")
    kinds = {kind.kind: kind for kind in Target.__subclasses__()}
    kind = kinds.get(str(values.get("kind")))
    if kind is None:
        raise CheckpointError(f"there is no target of kind {values.get('kind')!r}")
    known = {field.name for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    given = {name: value for name, value in values.items() if name != "kind"}
    if not needed <= set(given) <= known or not isinstance(given["index"], int):
        raise CheckpointError(f"a stored target of kind {kind.kind!r} has other fields than it has")
    try:
        return kind(**given)
    except (GNNInterpreterError, TypeError, ValueError) as error:
        raise CheckpointError(f"a stored target cannot be read: {error}") from error
