"""What the graphs of a class have in common, against figures made by hand."""

from __future__ import annotations

from dataclasses import replace

from gnninterpreter.evidence.accounts import counts, not_by_heart, one_kind
from gnninterpreter.evidence.evidence import Evidence
from gnninterpreter.evidence.patterns.answers import Answers
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.counts import Account
from gnninterpreter.evidence.verdict import verdict_on
from tests.evidence.patterns.pairs import PAIRED, PLAIN, SPEC, chain
from tests.evidence.test_controls import case


def test_one_kind_of_node_that_gives_the_class_away() -> None:
    found = one_kind(case([chain("brrb")] * 10 + [chain("bbbb")] * 10))
    assert (found.passed, found.value, found.reference) == (False, 1.0, 0.0)
    said = "all of the graphs of the class hold a node of colour red, and none of the others"
    assert said in found.sentence
    # What is missing gives it away as well.
    found = one_kind(case([chain("rrr")] * 10 + [chain("rbrb")] * 10))
    assert (found.passed, found.value, found.reference) == (False, 0.0, 1.0)
    assert one_kind(case([chain(c) for c in PAIRED + PLAIN])).passed
    assert one_kind(case([chain("brrb")] * 20)).passed is None


def test_counts_are_said_where_they_tell_more_than_the_core() -> None:
    known = case([])
    assert counts(known).passed is None
    account = Account("at least 3 rings", 0.9, 0.02, 0.9)
    found = counts(replace(known, answers=Answers(account=account)))
    assert (
        found.sentence
        == "90% of the graphs of the class have at least 3 rings, and 2% of the others"
    )
    # A core in all of the class and in one of ten others is right about 0.95.
    core = Core(chain("rr"), SPEC, 1.0, True, coverage=1.0, others=1, rest=10)
    with_core = replace(case([], core), answers=Answers(account=account))
    assert (counts(with_core).passed, counts(with_core).reference) == (False, 0.95)


def test_a_class_that_nothing_tells_may_be_learned_by_heart() -> None:
    chance = Account("a ring", 0.1, 0.05, 0.52)
    found = not_by_heart(replace(case([]), answers=Answers(account=chance)))
    assert (found.passed, found.value) == (False, 0.525)
    assert verdict_on(Evidence((found,))).word == "may know its graphs by heart"
    assert not_by_heart(replace(case([]), answers=Answers(left_over=True, account=chance))).passed
    assert not_by_heart(replace(case([]), answers=Answers(account=chance, told=0.7))).passed
    assert not_by_heart(case([])).passed is None
