"""Each verdict, from the checks that call for it."""

from __future__ import annotations

import pytest

from gnninterpreter.evidence import Check, Evidence, audit_check, verdict_on
from gnninterpreter.evidence.verdict import WORDS

GRAVE = {"something found", "target reached", "rule of the data set"}


def evidence(**changes: bool | None) -> Evidence:
    """Everything passed but what is named; an underscore stands for a space."""
    states = dict.fromkeys(WORDS, True) | {k.replace("_", " "): v for k, v in changes.items()}
    return Evidence(
        tuple(
            Check(name, state, f"about {name}", grave=name in GRAVE)
            for name, state in states.items()
        )
    )


def test_trustworthy_only_where_everything_passed() -> None:
    verdict = verdict_on(evidence())
    assert (verdict.word, verdict.level) == ("trustworthy", "good")
    assert verdict.reasons == (f"Passed {len(WORDS)} checks.",)


@pytest.mark.parametrize("name", WORDS)
def test_no_failure_leaves_it_trustworthy(name: str) -> None:
    verdict = verdict_on(evidence(**{name.replace(" ", "_"): False}))
    assert verdict.word == WORDS[name][0]
    assert verdict.level == ("bad" if name in GRAVE else "caution")
    assert verdict.reasons[0] == f"About {name}."


@pytest.mark.parametrize("name", WORDS)
def test_what_was_not_checked_is_said_and_no_tick(name: str) -> None:
    verdict = verdict_on(evidence(**{name.replace(" ", "_"): None}))
    assert verdict.word == WORDS[name][1] or (
        WORDS[name][1] is None and verdict.word == "trustworthy"
    )
    assert verdict.reasons[-1] == f"Not checked: {name}."
    assert verdict.reasons[0] == f"Passed {len(WORDS) - 1} checks."


def test_without_data_it_is_not_called_trustworthy() -> None:
    verdict = verdict_on(evidence(likeness=None))
    assert (verdict.word, verdict.level) == ("certain, but not compared with data", "caution")


def test_nothing_checked_is_nothing_said() -> None:
    assert verdict_on(Evidence()).word == "not checked"


def test_the_gravest_failure_gives_the_word_and_all_are_reasons() -> None:
    verdict = verdict_on(evidence(likeness=False, random_graphs=False, rule_of_the_data_set=False))
    assert (verdict.word, verdict.level) == ("contradicts the rule", "bad")
    assert verdict.reasons[:3] == (
        "About rule of the data set.", "About random graphs.", "About likeness."
    )  # fmt: skip


@pytest.mark.parametrize(
    ("severity", "word", "level"),
    [
        ("high", "weaknesses found by the audit", "bad"),
        ("medium", "weaknesses found by the audit", "caution"),
        ("low", "trustworthy", "good"),
    ],
)
def test_findings_of_an_audit_count(severity: str, word: str, level: str) -> None:
    judged = evidence().with_check(audit_check([(severity, "Rings pass")]))
    assert (verdict_on(judged).word, verdict_on(judged).level) == (word, level)


def test_a_high_finding_outweighs_a_doubt() -> None:
    judged = evidence(random_graphs=False).with_check(audit_check([("high", "Rings pass")]))
    assert verdict_on(judged).word == "weaknesses found by the audit"
    assert verdict_on(judged).reasons[0].endswith("of high severity: Rings pass.")


def test_a_check_of_somebody_else_counts_as_well() -> None:
    judged = evidence().with_check(Check("peers", False, "two other models disagree"))
    assert verdict_on(judged).word == "failed: peers"


def test_json() -> None:
    values = verdict_on(evidence(certain=False)).to_json()
    assert values["word"] == str(verdict_on(evidence(certain=False))) == "not certain"
    assert values["level"] == "caution"
    assert isinstance(values["reasons"], list)
