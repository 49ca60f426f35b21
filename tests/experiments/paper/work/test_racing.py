"""Timings of the paper's recipe and of XGNN for numbers of theirs."""

from __future__ import annotations

import pytest

from gnninterpreter.experiments.paper.work.racing import complexity


@pytest.mark.parametrize(("method", "what"), [("ours", "samples"), ("xgnn", "episodes")])
def test_every_value_has_its_time(method: str, what: str) -> None:
    (pair,) = complexity(method, what, [2], repeats=1)
    assert pair[0] == 2.0
    assert pair[1] > 0
