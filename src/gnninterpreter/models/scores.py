"""How good a model is: accuracy and F1 of classes, ROC-AUC of labels, errors of values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.errors import CheckpointError
from gnninterpreter.files import finite
from gnninterpreter.models.task import Task
from gnninterpreter.schema import Known, typed


class _Scores:
    def to_json(self) -> dict[str, Any]:
        """Return the scores as plain JSON values; what is not known is null."""
        return dict(finite(self))


@dataclass(frozen=True)
class ClassificationScores(_Scores):
    """Scores of classes or labels over some graphs.

    ``accuracy`` is of labels that were measured; ``f1`` has one score for each class, 0 where it is
    neither there nor predicted; ``roc_auc`` one for each label, or one for the second of two
    classes, NaN without both.

    Example:
        >>> predictions, labels = torch.tensor([0, 1, 1]), torch.tensor([0, 1, 1])
        >>> ClassificationScores.of(predictions, labels, num_classes=2).f1
        (1.0, 1.0)
    """

    accuracy: float
    f1: tuple[float, ...]
    count: int
    roc_auc: tuple[Known, ...] = ()

    @property
    def mean_roc_auc(self) -> float:
        """Mean over the labels of which there are both kinds."""
        return float(torch.tensor(self.roc_auc, dtype=torch.double).nanmean())

    @property
    def figures(self) -> dict[str, float]:
        """What tables show, the telling one first."""
        found = {"accuracy": self.accuracy}
        if len(self.roc_auc) > 1:
            return {"ROC-AUC": self.mean_roc_auc, **found}
        return {**found, "ROC-AUC": self.mean_roc_auc} if self.roc_auc else found

    @classmethod
    def of(cls, predictions: Tensor, labels: Tensor, num_classes: int) -> ClassificationScores:
        """Compare predicted classes with labels, both of shape [graphs]."""
        cells = (labels * num_classes + predictions).bincount(minlength=num_classes**2)
        confusion = cells.reshape(num_classes, num_classes).double()
        hits = confusion.diagonal()
        errors = confusion.sum(0) + confusion.sum(1)
        count = len(labels)
        return cls(float(hits.sum()) / count if count else 0.0, _f1(hits, errors), count)


@dataclass(frozen=True)
class RegressionScores(_Scores):
    """Errors of predicted values over some graphs, in the unit of the data."""

    rmse: float
    mae: float
    r2: float
    count: int

    @property
    def figures(self) -> dict[str, float]:
        """What tables show, the telling one first."""
        return {"RMSE": self.rmse, "MAE": self.mae, "R2": self.r2}


ModelScores = ClassificationScores | RegressionScores


def scores_from_json(values: Mapping[str, Any]) -> ModelScores:
    """Read scores of either kind."""
    kind = RegressionScores if "rmse" in values else ClassificationScores
    try:
        found: ModelScores = typed(kind)(values, "the object of scores")
    except ValueError as error:
        raise CheckpointError(str(error)) from error
    return found


def scores_of(outputs: Tensor, labels: Tensor, task: Task) -> ModelScores:
    """Compare outputs with labels."""
    outputs, count = outputs.double(), len(labels)
    if task is Task.REGRESSION:
        known = ~labels.isnan()
        errors, values = (outputs - labels)[known], labels[known].double()
        variance = (values - values.mean()).square().mean()
        squared = errors.square().mean()
        r2 = float(1 - squared / variance)
        return RegressionScores(float(squared.sqrt()), float(errors.abs().mean()), r2, count)
    if task is Task.MULTILABEL:
        known, true, said = ~labels.isnan(), labels > 0.5, outputs > 0
        hits = (known & true & said).sum(0).double()
        f1 = _f1(hits, ((known & true).sum(0) + (known & said).sum(0)).double())
        accuracy = float((true == said)[known].double().mean())
        curves = [roc_auc(outputs[m, c], true[m, c]) for c, m in enumerate(known.t())]
        return ClassificationScores(accuracy, f1, count, tuple(curves))
    found = ClassificationScores.of(outputs.argmax(1), labels, outputs.size(1))
    if outputs.size(1) != 2:
        return found
    area = roc_auc(outputs[:, 1] - outputs[:, 0], labels == 1)
    return ClassificationScores(found.accuracy, found.f1, count, (area,))


def roc_auc(scores: Tensor, positive: Tensor) -> float:
    """Chance that a positive is given more than a negative, ties counting half; NaN without both.

    Example:
        >>> roc_auc(torch.tensor([0.1, 0.4, 0.4, 0.9]), torch.tensor([False, False, True, True]))
        0.875
    """
    low, high = scores[~positive].sort().values, scores[positive]
    if not (len(low) and len(high)):
        return math.nan
    below = torch.searchsorted(low, high) + torch.searchsorted(low, high, right=True)
    return float(below.double().mean() / (2 * len(low)))


def _f1(hits: Tensor, errors: Tensor) -> tuple[float, ...]:
    return tuple(torch.where(errors > 0, 2 * hits / errors.clamp(min=1), 0.0).tolist())
