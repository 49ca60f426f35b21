"""Scores by hand: ROC-AUC with ties and missing labels, errors of values, JSON and back."""

from __future__ import annotations

import json
import math

import pytest
import torch

from gnninterpreter.models.scores import (
    ClassificationScores,
    RegressionScores,
    roc_auc,
    scores_from_json,
    scores_of,
)
from gnninterpreter.models.task import Task

NAN = float("nan")


def test_roc_auc_counts_pairs():
    # Positives 3 and 1 against negatives 2 and 1: 3 beats both, 1 loses one and ties one.
    scores = torch.tensor([3.0, 1.0, 2.0, 1.0])
    positive = torch.tensor([True, True, False, False])
    assert roc_auc(scores, positive) == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert math.isnan(roc_auc(scores, torch.ones(4, dtype=torch.bool)))


def test_labels_that_are_missing_do_not_count():
    outputs = torch.tensor([[2.0, -1.0], [-1.0, 5.0], [1.0, 5.0], [-2.0, 1.0]])
    labels = torch.tensor([[1.0, 0.0], [0.0, NAN], [0.0, NAN], [NAN, 1.0]])
    scores = scores_of(outputs, labels, Task.MULTILABEL)
    # Known: 1 hit, 1 true negative and 1 false positive of the first; both of the second.
    assert scores.accuracy == pytest.approx(4 / 5)
    assert scores.f1 == pytest.approx((2 / 3, 1.0))
    assert scores.roc_auc == (1.0, 1.0)
    assert list(scores.figures) == ["ROC-AUC", "accuracy"]


def test_a_label_of_one_kind_has_no_area():
    scores = scores_of(torch.zeros(2, 2), torch.tensor([[1.0, 0.0], [1.0, 1.0]]), Task.MULTILABEL)
    assert math.isnan(scores.roc_auc[0])
    assert scores.mean_roc_auc == scores.roc_auc[1] == 0.5
    stored = json.loads(json.dumps(scores.to_json(), allow_nan=False))
    again = scores_from_json(stored)
    assert math.isnan(again.roc_auc[0])
    assert again.f1 == scores.f1


def test_two_classes_have_an_area_too():
    outputs = torch.tensor([[0.0, 1.0], [0.0, 2.0], [0.0, -1.0]])
    scores = scores_of(outputs, torch.tensor([0, 1, 0]), Task.MULTICLASS)
    assert scores == ClassificationScores(2 / 3, (2 / 3, 2 / 3), 3, (1.0,))
    assert scores.figures == {"accuracy": 2 / 3, "ROC-AUC": 1.0}
    three = scores_of(torch.eye(3), torch.tensor([0, 1, 2]), Task.MULTICLASS)
    assert three.figures == {"accuracy": 1.0}


def test_errors_of_values():
    outputs, labels = torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([[0.0], [4.0], [NAN]])
    scores = scores_of(outputs, labels, Task.REGRESSION)
    assert (scores.rmse, scores.mae, scores.r2, scores.count) == (1.0, 1.0, 0.75, 3)
    assert scores_from_json(json.loads(json.dumps(scores.to_json()))) == scores
    assert isinstance(scores, RegressionScores)


def test_scores_stored_before_there_was_an_area_are_read():
    assert scores_from_json({"accuracy": 0.5, "f1": [0.5], "count": 2}).roc_auc == ()
