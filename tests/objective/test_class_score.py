"""The class score (equation 1, first term) and the log-probability that stands in for it."""

from __future__ import annotations

import math

import pytest
import torch

from gnninterpreter.objective import ClassLogProbability, ClassScore, Goal
from tests.tiny import PLAIN as SPEC
from tests.tiny import distribution, goal, iterate

LOGITS = torch.tensor(
    [[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], [[-5.0, 5.0, 0.0], [1.0, 1.0, 4.0]]], dtype=torch.double
)


def aims(*targets: int) -> Goal:
    base = goal(len(targets))
    return Goal(
        torch.tensor(targets), None, base.max_edges, base.max_nodes, base.similarity
    )  # fmt: skip


def test_equation_1_takes_the_raw_score_of_the_target() -> None:
    of = distribution(SPEC, 3, restarts=2)
    found = ClassScore()(iterate(of, logits=LOGITS, aim=aims(2, 0)))
    assert found.tolist() == [[-3.0, 0.0], [5.0, -1.0]]


def test_log_probability_by_hand() -> None:
    of = distribution(SPEC, 3, restarts=2)
    found = ClassLogProbability()(iterate(of, logits=LOGITS, aim=aims(2, 1)))
    first = math.log(math.exp(1) + math.exp(2) + math.exp(3)) - 3
    last = math.log(2 * math.exp(1) + math.exp(4)) - 1
    assert found[0].tolist() == pytest.approx([first, math.log(3)])
    assert found[1, 1].item() == pytest.approx(last)


def test_the_raw_score_sees_a_common_shift_and_the_log_probability_does_not() -> None:
    of, aim = distribution(SPEC, 3, restarts=2), aims(1, 1)
    for term, moves in ((ClassScore(), True), (ClassLogProbability(), False)):
        before = term(iterate(of, logits=LOGITS, aim=aim))
        after = term(iterate(of, logits=LOGITS + 7.0, aim=aim))
        assert torch.allclose(after, before - 7.0 * moves)


def test_log_probability_stays_finite_for_large_scores() -> None:
    logits = torch.tensor([[[1e4, -1e4]]], dtype=torch.double)
    of = distribution(SPEC, 3)
    assert ClassLogProbability()(iterate(of, logits=logits)).item() == 0.0
    assert ClassLogProbability()(iterate(of, logits=-logits)).item() == pytest.approx(2e4)
