"""Each verdict, from the numbers that call for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gnninterpreter.explanation import Explanation
from gnninterpreter.report import Finding, verdict_on
from gnninterpreter.spec import GraphSpec


@pytest.mark.parametrize(
    ("fields", "truth", "finding", "level"),
    [
        ({}, None, Finding.TRUSTWORTHY, "good"),
        ({}, "chain", Finding.TRUSTWORTHY, "good"),
        ({}, "ring", Finding.CONTRADICTION, "bad"),
        ({"percentile": None}, None, Finding.UNCHECKED, "caution"),
        ({"percentile": 9.9}, None, Finding.OUT_OF_DISTRIBUTION, "caution"),
        ({"reached": 1}, None, Finding.UNSTABLE, "caution"),
        ({"mean": 0.89}, "ring", Finding.NOT_REACHED, "bad"),
        ({"edges": {}}, None, Finding.NOTHING_FOUND, "bad"),
    ],
)
def test_the_gravest_reason_decides(
    fields: dict[str, object],
    truth: str | None,
    finding: Finding,
    level: str,
    plain_spec: GraphSpec,
    explanation_of: Callable[..., Explanation],
) -> None:
    verdict = verdict_on(explanation_of(plain_spec, **fields), truth)
    assert verdict.finding is finding
    assert verdict.finding.level == level
    assert verdict.reason.endswith(".")


def test_a_graph_in_pieces_is_not_called_trustworthy(
    plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    explanation = explanation_of(plain_spec)
    explanation.restarts[1] = replace(explanation.restarts[1], feasible=False)
    assert verdict_on(explanation).finding is Finding.UNSOUND


def test_what_random_graphs_get_as_well_is_no_explanation(
    plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    explanation = explanation_of(plain_spec)
    assert verdict_on(explanation, random_mean=0.95).finding is Finding.UNSPECIFIC
    assert verdict_on(explanation, random_mean=0.5).finding is Finding.TRUSTWORTHY
    assert verdict_on(explanation, "ring", random_mean=0.95).finding is Finding.CONTRADICTION


def test_near_certainty_is_not_rounded_to_certainty(
    plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    reason = verdict_on(explanation_of(plain_spec, mean=0.99999)).reason
    assert "over 0.999" in reason
    assert "1.000" not in reason
