"""What a model was trained to say, and what it says of some graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch import Tensor


class Task(str, Enum):
    """How a row of outputs is read: one class of several, yes or no, several labels, a number.

    Everything downstream sees one row of C numbers for each graph. A binary model with one output
    is read as one with two classes, so that its rows have two.
    """

    MULTICLASS = "multiclass"
    BINARY = "binary"
    MULTILABEL = "multilabel"
    REGRESSION = "regression"

    def __str__(self) -> str:
        return self.value

    @property
    def exclusive(self) -> bool:
        """Whether a graph has exactly one of the classes."""
        return self in (Task.MULTICLASS, Task.BINARY)

    def counted(self, count: int) -> str:
        """So many columns of the outputs, by what they are."""
        words = {Task.MULTILABEL: ("label", "labels"), Task.REGRESSION: ("value", "values")}
        return f"{count} {words.get(self, ('class', 'classes'))[count != 1]}"

    def names(self, count: int) -> tuple[str, ...]:
        """Names for columns that nobody has named."""
        if self is Task.REGRESSION and count == 1:
            return ("value",)
        word = {Task.MULTILABEL: "label", Task.REGRESSION: "value"}.get(self, "class")
        return tuple(f"{word} {i}" for i in range(count))


@dataclass(frozen=True)
class Scores:
    """What the model says of B graphs: logits or values, [B, C], and embeddings, [B, D]."""

    logits: Tensor
    embedding: Tensor
    task: Task = Task.MULTICLASS

    @classmethod
    def cat(cls, parts: Sequence[Scores]) -> Scores:
        """Put the scores of several batches one below the other."""
        logits = torch.cat([part.logits for part in parts])
        return cls(logits, torch.cat([part.embedding for part in parts]), parts[0].task)

    def select(self, rows: Any) -> Scores:
        """Those of some of the graphs, by anything that indexes the first dimension."""
        return Scores(self.logits[rows], self.embedding[rows], self.task)

    def to(self, device: torch.device) -> Scores:
        """The same on another device."""
        return Scores(self.logits.to(device), self.embedding.to(device), self.task)

    @property
    def log_probabilities(self) -> Tensor:
        """Log-probabilities of the classes or labels, [B, C]; of a regression there are none."""
        if self.task is Task.MULTILABEL:
            return torch.nn.functional.logsigmoid(self.logits)
        return self.logits.log_softmax(dim=-1)

    @property
    def probabilities(self) -> Tensor:
        """Probabilities of the classes or labels, [B, C]."""
        return self.log_probabilities.exp()

    @property
    def outputs(self) -> Tensor:
        """What users read, [B, C]: probabilities, or the values of a regression."""
        return self.logits if self.task is Task.REGRESSION else self.probabilities
