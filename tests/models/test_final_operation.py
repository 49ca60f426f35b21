from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnninterpreter.models.final_operation import OperationRecorder

X = torch.rand(4, 3)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda x: torch.sigmoid(x), "sigmoid"),
        (lambda x: x.sigmoid(), "sigmoid"),
        (lambda x: (x + 1).sigmoid_(), "sigmoid"),
        (lambda x: functional.sigmoid(x), "sigmoid"),
        (lambda x: torch.special.expit(x), "sigmoid"),
        (nn.Sequential(nn.Linear(3, 3), nn.Sigmoid()), "sigmoid"),
        (lambda x: x.sigmoid()[:, :1].squeeze(), "sigmoid"),
        (lambda x: x.sigmoid().double(), "sigmoid"),
        (lambda x: torch.cat([x[:, :1].sigmoid(), x[:, 1:].sigmoid()], 1), "sigmoid"),
        (lambda x: torch.stack([x.sum(1).sigmoid(), x.sum(1)], 1), "other"),
        (lambda x: x.softmax(1), "softmax"),
        (nn.Softmax(dim=1), "softmax"),
        (lambda x: functional.log_softmax(x, 1), "log_softmax"),
        (nn.LogSoftmax(dim=1), "log_softmax"),
        (nn.Linear(3, 2), "linear"),
        (lambda x: nn.Linear(3, 1)(x).squeeze(-1), "linear"),
        (lambda x: x.sigmoid() * 3, "other"),
        (lambda x: x, "other"),
    ],
)
def test_what_made_a_tensor(make: Callable[[Tensor], Tensor], kind: str) -> None:
    with OperationRecorder() as recorder:
        out = make(X)
    assert recorder.kind(out) == kind


def test_a_sigmoid_inside_a_model_does_not_count() -> None:
    gate = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Linear(3, 1))
    with OperationRecorder() as recorder:
        out = gate(X)
    assert recorder.kind(out) == "linear"
    assert recorder.kind(None) == "other"
