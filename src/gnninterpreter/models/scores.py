"""How good a classifier is: accuracy and the F1 score of each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

__all__ = ["ClassificationScores"]


@dataclass(frozen=True)
class ClassificationScores:
    """Accuracy and F1 scores over some graphs.

    Attributes:
        accuracy: Share of graphs whose most probable class is their label.
        f1: One score for each class, 2 TP / (2 TP + FP + FN); 0 where a class is neither there nor
            predicted.
        count: Number of graphs.

    Example:
        >>> predictions, labels = torch.tensor([0, 1, 1]), torch.tensor([0, 1, 1])
        >>> ClassificationScores.of(predictions, labels, num_classes=2).f1
        (1.0, 1.0)
    """

    accuracy: float
    f1: tuple[float, ...]
    count: int

    @classmethod
    def of(cls, predictions: Tensor, labels: Tensor, num_classes: int) -> ClassificationScores:
        """Compare predicted classes with labels.

        Args:
            predictions: Predicted classes, shape [graphs].
            labels: True classes, shape [graphs].
            num_classes: Number of classes.
        """
        cells = (labels * num_classes + predictions).bincount(minlength=num_classes**2)
        confusion = cells.reshape(num_classes, num_classes).double()
        hits = confusion.diagonal()
        errors = confusion.sum(0) + confusion.sum(1)
        f1 = torch.where(errors > 0, 2 * hits / errors.clamp(min=1), 0.0)
        count = len(labels)
        return cls(
            accuracy=float(hits.sum()) / count if count else 0.0,
            f1=tuple(float(value) for value in f1),
            count=count,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the scores as plain JSON values."""
        return {**asdict(self), "f1": list(self.f1)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ClassificationScores:
        """Read what `to_json` wrote."""
        return cls(
            accuracy=float(values["accuracy"]),
            f1=tuple(float(value) for value in values["f1"]),
            count=int(values["count"]),
        )
