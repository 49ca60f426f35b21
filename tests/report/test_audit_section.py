"""Findings of an audit on the page."""

from __future__ import annotations

import pytest

from gnninterpreter.report.audit_section import _written


@pytest.mark.parametrize(
    ("value", "said"),
    [(7, "7"), ("star", "star"), (1.0, "1"), (0.84101, "0.841"), (0.0, "0"), (2.3e-8, "2e-08")],
)
def test_figures_are_short_and_small_ones_are_not_nothing(value: float | str, said: str) -> None:
    assert _written(value) == said
