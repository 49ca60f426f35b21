from __future__ import annotations

import pytest
import torch

from gnninterpreter.models.task import Scores, Task


@pytest.mark.parametrize(
    ("task", "names"),
    [
        (Task.MULTICLASS, ("class 0", "class 1")),
        (Task.BINARY, ("class 0", "class 1")),
        (Task.MULTILABEL, ("label 0", "label 1")),
        (Task.REGRESSION, ("value 0", "value 1")),
    ],
)
def test_names_of_columns(task: Task, names: tuple[str, ...]) -> None:
    assert task.names(2) == names


def test_a_single_value_needs_no_number() -> None:
    assert Task.REGRESSION.names(1) == ("value",)


def test_parts_are_put_together_with_their_task() -> None:
    one = Scores(torch.zeros(1, 2), torch.zeros(1, 3), Task.MULTILABEL)
    two = Scores(torch.ones(2, 2), torch.ones(2, 3), Task.MULTILABEL)
    both = Scores.cat([one, two])
    assert both.logits[:, 0].tolist() == [0.0, 1.0, 1.0]
    assert both.embedding.shape == (3, 3)
    assert both.task is Task.MULTILABEL


def test_labels_have_probabilities_of_their_own() -> None:
    scores = Scores(torch.tensor([[0.0, 2.0]]), torch.zeros(1, 1), Task.MULTILABEL)
    assert scores.probabilities[0].tolist() == pytest.approx([0.5, 0.8807971])
