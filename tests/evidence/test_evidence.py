"""Checks and their states, there and back."""

from __future__ import annotations

import json

import pytest

from gnninterpreter.errors import CheckpointError
from gnninterpreter.evidence import Check, Evidence, verdict_on
from gnninterpreter.evidence.evidence import written

CHECKS = (
    Check("a", True, "held", 0.5, 0.4),
    Check("b", False, "did not hold", "x", "y", grave=True),
    Check("c", None, "nothing to ask"),
)


def test_states_are_three() -> None:
    assert [check.state for check in CHECKS] == ["passed", "failed", "not checked"]
    evidence = Evidence(CHECKS)
    assert len(evidence) == 3
    assert [evidence.with_state(state) for state in (True, False, None)] == [
        (CHECKS[0],), (CHECKS[1],), (CHECKS[2],)
    ]  # fmt: skip


def test_what_was_never_asked_is_not_checked() -> None:
    assert Evidence()["audit"] == Check("audit", None, "nobody asked")


def test_a_check_takes_the_place_of_its_namesake() -> None:
    evidence = Evidence(CHECKS)
    again = evidence.with_check(Check("a", False, "no longer"))
    assert [check.name for check in again] == ["a", "b", "c"]
    assert again["a"].sentence == "no longer"
    assert evidence["a"].sentence == "held"
    assert [check.name for check in again.with_check(Check("d", None, "new"))] == [*"abcd"]


def test_json_there_and_back() -> None:
    evidence = Evidence(CHECKS)
    assert Evidence.from_json(json.loads(json.dumps(evidence.to_json()))) == evidence
    assert hash(evidence) == hash(Evidence(CHECKS))
    with pytest.raises(CheckpointError, match="stored evidence cannot be read"):
        Evidence.from_json([{"nonsense": 1}])


@pytest.mark.parametrize(
    ("score", "words"), [(0.99949, "0.999"), (0.9995, "over 0.999"), (1.0, "over 0.999")]
)
def test_near_certainty_is_not_rounded_to_certainty(score: float, words: str) -> None:
    assert written(score) == words


def test_what_only_tells_is_noted_and_neither_passes_nor_fails():
    for passed in (True, False):
        assert Check("counts", passed, "no condition on counts tells").state == "noted"
        assert verdict_on(Evidence((Check("counts", passed, "none tells"),))).reasons == ()
    assert Check("counts", None, "there is no data").state == "not checked"
    assert Check("typical", False, "no").state == "failed"
