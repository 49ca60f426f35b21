"""Every figure in plain words; what was not measured is said to be so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gnninterpreter.evidence import Check, Evidence
from gnninterpreter.evidence.evidence import HAS_NO_CORE
from gnninterpreter.evidence.patterns.causes import Effect
from gnninterpreter.explanation import Explanation
from gnninterpreter.report.words import (
    NO_CORE,
    NOT_TYPICAL,
    core_words,
    shortcut_words,
    typical_percentile,
    typical_words,
)
from gnninterpreter.spec import GraphSpec
from tests.report.conftest import make_core, with_answers


@pytest.fixture
def plain(plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]) -> Explanation:
    return explanation_of(plain_spec)


def test_a_typical_prototype_could_pass_for_a_real_graph(plain: Explanation) -> None:
    words = typical_words(with_answers(plain, 61.0))
    assert words == "Could pass for a real graph: more typical than 61% of them."
    words = typical_words(with_answers(plain, 100.0))
    assert words == "Could pass for a real graph: as typical as any of them."
    words = typical_words(with_answers(plain, 3.0))
    assert words == "Could not pass for a real graph: less typical than 97% of them."
    odd = Check("typical", False, "untypical: none of 9 real graphs holds an edge", 61.0, 10.0)
    told = replace(plain, evidence=plain.evidence.with_check(odd))
    said = "Could not pass for a real graph: none of 9 real graphs holds an edge."
    assert typical_words(told) == said


def test_without_data_nothing_is_claimed(plain: Explanation) -> None:
    plain = replace(plain, evidence=Evidence())
    assert typical_words(plain) == NOT_TYPICAL
    assert typical_percentile(plain) is None
    assert core_words(plain.core, plain) == NO_CORE.format(members="of the class")
    assert plain.exemplars(3) == []


def test_the_reason_of_a_check_that_was_not_made_is_told(plain: Explanation) -> None:
    evidence = plain.evidence
    for name in ("typical", "core covers"):
        evidence = evidence.with_check(Check(name, None, "only four real graphs are known"))
    told = replace(plain, evidence=evidence)
    expected = "Not checked: Only four real graphs are known."
    assert (typical_words(told), core_words(None, told)) == (expected, expected)


def test_that_there_is_no_core_was_checked(plain: Explanation) -> None:
    evidence = plain.evidence.with_check(Check("core covers", None, HAS_NO_CORE))
    assert core_words(None, replace(plain, evidence=evidence)) == "There is no core."


def test_a_core_says_that_the_prototype_lacks_it(plain: Explanation) -> None:
    lacked = "The prototype does not hold it."
    for held, said in ((True, False), (None, False), (False, True)):
        core = make_core(plain.best, held_by=lambda _, held=held: held)
        assert core_words(core, plain).endswith(lacked) == said


def test_a_core_says_association_and_cause_with_their_controls(plain: Explanation) -> None:
    assert core_words(make_core(plain.best), plain) == (
        "In 78% of the graphs the model gives to the class, 4.1 times as often as elsewhere. "
        "Without it the probability falls by 0.34 (random piece: 0.10). "
        "Put into other graphs it turns 42% of them (random piece: 5%)."
    )


def test_nothing_has_no_sign(plain: Explanation) -> None:
    core = make_core(plain.best, necessity=Effect(0.34, -0.001, 8))
    assert "falls by 0.34 (random piece: 0.00)" in core_words(core, plain)


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ({"coverage": None}, "Not checked in how many real graphs it is."),
        ({"open": (True, True)}, "All nodes may be of any kind. In 78%"),
        ({"open": (True, False)}, "1 of its 2 nodes may be of any kind. In 78%"),
        (
            {"ranges": (1,), "conditions": ["heat of node 0 at least 2"]},
            "Heat of node 0 at least 2. All other numbers may be any. In 78%",
        ),
        ({"lift": None}, "In 78% of the graphs the model gives to the class; not checked"),
        ({"others": 0, "lift": 99.0}, "to the class, and in none of the others."),
        ({"lift": 1234.5}, "1,234 times as often"),
        ({"coverage": 0.9999}, "In 99% of"),
        ({"coverage": 0.001}, "In less than 1% of"),
        ({"necessity": None}, "Not checked what happens without it."),
        ({"necessity": SimpleNamespace(value=-0.02, control=None)}, "rises by 0.02 (random"),
        ({"sufficiency": None}, "Not checked what it does"),
    ],
)
def test_what_was_not_measured_is_not_checked(
    plain: Explanation, figures: dict[str, object], expected: str
) -> None:
    assert expected in core_words(make_core(plain.best, **figures), plain)


def test_a_core_that_does_no_more_than_a_random_piece_is_said_to_be_association(
    plain: Explanation,
) -> None:
    idle = "it goes with the class, no more."
    weak = SimpleNamespace(value=0.15, control=0.1)
    assert core_words(make_core(plain.best, necessity=weak, sufficiency=weak), plain).endswith(idle)
    assert idle not in core_words(make_core(plain.best, necessity=weak), plain)
    assert idle not in core_words(make_core(plain.best, necessity=weak, sufficiency=None), plain)


def test_a_shortcut_says_how_many_real_graphs_look_like_that(plain: Explanation) -> None:
    unseen = make_core(plain.best, probability=0.99996, coverage=0.0, matched=0, total=2401)
    assert shortcut_words(unseen, plain.target) == (
        "0 of 2,401 real graphs that the model gives to the class contain this; "
        "the model gives it 1.000."
    )
    part = shortcut_words(make_core(plain.best), plain.target)
    assert part.startswith("39 of 50 real graphs that the model gives to the class contain this as")
    unknown = make_core(plain.best, matched=None, total=None, probability=0.5)
    words = "Not checked how many real graphs contain this; the model gives it 0.500."
    assert shortcut_words(unknown, plain.target) == words
