from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gnninterpreter.errors import DataError
from gnninterpreter.experiments.metrics import summarize, summarize_seeds
from gnninterpreter.explanation import Probability


def run(mean: float, std: float, seconds: float) -> Any:
    return SimpleNamespace(probability=Probability(mean, std, 1000), seconds=seconds)


def test_seeds_by_hand():
    found = summarize_seeds([run(1.0, 0.0, 1.0), run(0.0, 0.0, 3.0), run(0.95, 0.0, 2.0)])
    assert found.mean == pytest.approx(0.65)
    assert (found.reached, found.missed) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (found.seconds, found.runs) == (2.0, 3)


def test_spread_within_and_between_runs():
    # Means 0 and 1 vary by 1/4; within each the variance is 0.04.
    found = summarize_seeds([run(0.0, 0.2, 1.0), run(1.0, 0.2, 1.0)])
    assert found.std == pytest.approx((0.25 + 0.04) ** 0.5)
    assert found.between == pytest.approx(0.5)


def test_numbers_and_explanations_are_summarized_alike():
    runs = [run(0.3, 0.1, 1.0), run(0.5, 0.2, 2.0)]
    assert summarize([0.3, 0.5], [0.1, 0.2], [1.0, 2.0]) == summarize_seeds(runs)


def test_no_runs_to_summarize():
    with pytest.raises(DataError):
        summarize_seeds([])
