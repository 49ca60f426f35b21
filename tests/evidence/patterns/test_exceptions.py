"""Exceptions to a rule: with a reason, or known by heart."""

from __future__ import annotations

import numpy as np
import pytest

from gnninterpreter.evidence.patterns.counts import _together
from gnninterpreter.evidence.patterns.exceptions import unexplained

RNG = np.random.default_rng(0)
RULE = np.arange(200) % 2 == 0
ODD = RNG.permutation(200) < 40
OWN = RULE != ODD
NOISE = RNG.normal(size=(200, 6))


def share(
    own: np.ndarray = OWN, right: float = 1.0, reason: float = 0.0, rule: np.ndarray = RULE
) -> float:
    """What is unexplained where a column tells the exceptions by so much."""
    table = np.column_stack([NOISE, NOISE[:, 0] + reason * own])
    said = np.where(np.arange(200) % 10 < round(10 * right), 1.0, 0.0)
    rng = np.random.default_rng(1)
    tables = (lambda: NOISE, lambda: table)
    return unexplained(own, rule, said, tables, lambda some, mine: _together(some, mine, rng))


def test_exceptions_that_nothing_tells_may_be_known_by_heart() -> None:
    assert share() == pytest.approx(0.2)


def test_what_has_a_reason_is_not() -> None:
    assert share(reason=4.0) == 0.0


def test_a_model_that_is_wrong_about_exceptions_has_not_learned_them() -> None:
    assert share(right=0.5) == 0.0


def test_a_few_exceptions_say_nothing() -> None:
    assert share(own=(np.arange(200) < 19) != RULE) == 0.0


def test_labels_that_are_not_known_say_nothing() -> None:
    nothing = np.full(200, np.nan)
    assert unexplained(OWN, RULE, nothing, (lambda: NOISE,), lambda some, mine: 0.5) == 0.0
