"""A model of labels or values as a model of two classes: yes or no to one question.

What was made for classes (fidelity, the audit) then works for every task.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.models.outputs import OutputKind, OutputReader
from gnninterpreter.models.task import Task
from gnninterpreter.objective.target import ClassTarget, Target

YES = 1


@dataclass(frozen=True)
class _Answer(OutputReader):
    """Reads outputs as another reader does, and asks a target about them."""

    inner: OutputReader = field(kw_only=True)
    target: Target = field(kw_only=True)

    def __call__(self, scores: Tensor) -> Tensor:
        logits = self.inner(scores)
        yes = self.target.log_score(Scores(logits, logits, self.inner.task)).clamp_max(-1e-7)
        return torch.stack([torch.log(-torch.expm1(yes)), yes], dim=1)


def as_question(
    classifier: GraphClassifier, target: Target, names: tuple[str, str]
) -> GraphClassifier:
    """The same model with two classes, whose names are given: not what is asked for, or that."""
    if isinstance(target, ClassTarget):
        raise TypeError("a class is a class already")
    asked = copy(classifier)
    inner = classifier.reader
    asked.reader = _Answer(
        OutputKind.LOGITS, Task.BINARY, 2, inner.reason, inner.notes, inner=inner, target=target
    )
    metadata = {key: value for key, value in classifier.spec.metadata.items() if key != "task"}
    asked.spec = replace(classifier.spec, class_names=names, metadata=metadata)
    return asked
