from __future__ import annotations

import numpy as np
import pytest

from gnninterpreter.errors import DataError, SpecError
from gnninterpreter.evidence.patterns.fidelity import fidelity_of, in_words
from gnninterpreter.evidence.patterns.frequent import Pattern, gather_patterns, presence
from gnninterpreter.evidence.patterns.pieces import CoreSearch
from gnninterpreter.evidence.patterns.points import ScoreCard, fit_points
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.rules import PatternRule, RuleList, fit_rules, learn_rules
from gnninterpreter.evidence.patterns.typed import Typed, typed_graphs
from tests.evidence.patterns.pairs import SPEC, chain, classifier, real_graphs

PAIR = Typed((1, 1), {(0, 1): 0})


def pattern(colours: str) -> Pattern:
    data = chain(colours)
    return Pattern(data, typed_graphs([data], SPEC)[0])


def test_rules_are_asked_in_their_order():
    listed = RuleList((PatternRule(1, 2, 5, 5), PatternRule(0, 1, 5, 5)), default=0)
    held = np.array([[True, True], [True, False], [False, True], [False, False]])
    assert listed.predict(held).tolist() == [2, 1, 2, 0]
    with pytest.raises(DataError, match="agreed must lie"):
        PatternRule(0, 0, 3, 4)


def test_a_rule_list_finds_if_and_else():
    rng = np.random.default_rng(0)
    held = rng.random((300, 6)) < 0.4
    assigned = np.where(held[:, 2], 1, np.where(held[:, 4], 2, 0))
    learned = learn_rules(held, assigned, 3)
    assert [rule.pattern for rule in learned.rules] == [2, 4]
    assert [rule.target for rule in learned.rules] == [1, 2]
    assert learned.default == 0
    assert (learned.predict(held) == assigned).all()
    assert learned.rules[0].decided == learned.rules[0].agreed == held[:, 2].sum()


def test_a_rule_must_be_pure():
    held = np.array([[True]] * 10 + [[False]] * 10)
    assigned = np.array([1] * 7 + [0] * 3 + [0] * 10)
    assert len(fit_rules(held, assigned, 2, 5, purity=0.8)[-1].rules) == 0
    assert len(fit_rules(held, assigned, 2, 5, purity=0.7)[-1].rules) == 1


def test_nothing_to_learn_from_is_refused():
    nothing = np.zeros((0, 3), dtype=bool)
    with pytest.raises(DataError, match="at least one graph"):
        learn_rules(nothing, np.zeros(0, dtype=int), 2)
    with pytest.raises(DataError, match="at least one graph"):
        fit_points(nothing, np.zeros(0, dtype=int), 2)


def test_without_patterns_the_larger_class_is_left():
    learned = learn_rules(np.zeros((9, 0), dtype=bool), np.array([1] * 6 + [0] * 3), 2)
    assert learned == RuleList((), 1)


def test_points_add_up_where_a_list_cannot():
    rng = np.random.default_rng(1)
    held = rng.random((600, 9)) < 0.5
    assigned = (held[:, [1, 3, 5]].sum(axis=1) >= 2).astype(int)
    cards = fit_points(held, assigned, 2, most=3)
    assert sorted(cards[-1].patterns) == [1, 3, 5]
    assert (cards[-1].predict(held) == assigned).all()
    assert (cards[-1].points[:, 1] > 0).all()
    assert [len(card.patterns) for card in cards] == [1, 2, 3]
    with pytest.raises(DataError, match="points must have shape"):
        ScoreCard((0,), np.zeros((2, 2)), np.zeros(2))


def test_presence_is_a_table():
    real = real_graphs()
    held, undecided = presence([PAIR, Typed((0,), {})], real.index)
    assert held.shape == (20, 2)
    assert held[:, 0].tolist() == [True] * 10 + [False] * 10
    assert undecided == 0


def test_patterns_are_pieces_and_surroundings_without_doubles():
    real = real_graphs()
    pool = gather_patterns(real, search=CoreSearch(least=2))
    assert sum(entry.typed.same(PAIR) for entry in pool) == 1
    whole = {entry.typed.kinds for entry in gather_patterns(real)}
    pieces = {entry.typed.kinds for entry in gather_patterns(real, radii=())}
    # A blue node is a piece of the one class, and a red pair of the other.
    assert {(0,), (1, 1)} <= pieces
    # No class has four blue ones for a reason, but that is how it looks around many nodes.
    assert pieces < whole
    assert (0, 0, 0, 0) in whole - pieces
    with pytest.raises(DataError, match="at least one node"):
        Pattern(chain("b"), Typed((), {}))


@pytest.mark.parametrize("form", ["rules", "points"])
def test_the_pair_accounts_for_the_whole_model(form):
    held_out = RealGraphs(classifier(), [chain(c) for c in ("bbbrr", "brbbr", "rrrb", "rbb", "bb")])
    found = fidelity_of(
        real_graphs(), held_out, form=form, most=3, search=CoreSearch(least=2), seeds=20
    )
    assert found.value == 1.0
    assert found.larger_class == pytest.approx(3 / 5)
    assert found.patterns[0].typed.same(PAIR)
    assert found.curve[-1] == found.value
    assert found.classes[1].coverage == 1.0
    assert found.classes[1].elsewhere == 0.0
    assert found.classes[1].graphs == 2
    assert "red1-red2" in found.words[0]
    some = "one pattern says" if len(found.patterns) == 1 else f"{len(found.patterns)} patterns say"
    assert str(found).startswith(f"{some} what the model says on 100.0% of 5 graphs")


def test_a_pattern_in_words():
    assert in_words(pattern("rrb"), SPEC) == "[red1-red2, red2-blue3]"
    assert in_words(pattern("b"), SPEC) == "[blue1]"


def test_what_cannot_be_measured_is_refused():
    real = real_graphs()
    with pytest.raises(DataError, match="form must be"):
        fidelity_of(real, real, form="tree")
    with pytest.raises(SpecError, match="most must be"):
        fidelity_of(real, real, most=0)
    with pytest.raises(DataError, match="no pattern"):
        fidelity_of(real, real, patterns=[])
