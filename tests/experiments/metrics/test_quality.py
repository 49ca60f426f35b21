from __future__ import annotations

import pytest

from gnninterpreter.errors import DataError
from gnninterpreter.experiments.metrics import summarize


def test_seeds_by_hand():
    found = summarize([1.0, 0.0, 0.95], [0.0, 0.0, 0.0], [1.0, 3.0, 2.0])
    assert found.mean == pytest.approx(0.65)
    assert (found.reached, found.missed) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (found.seconds, found.runs) == (2.0, 3)


def test_spread_within_and_between_runs():
    # Means 0 and 1 vary by 1/4; within each the variance is 0.04.
    found = summarize([0.0, 1.0], [0.2, 0.2], [1.0, 1.0])
    assert found.std == pytest.approx((0.25 + 0.04) ** 0.5)
    assert found.between == pytest.approx(0.5)


def test_no_runs_to_summarize():
    with pytest.raises(DataError):
        summarize([], [], [])
