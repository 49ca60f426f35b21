from __future__ import annotations

from gnninterpreter.evidence.patterns import answers
from gnninterpreter.evidence.patterns.absence import falls_back, may_fall_back
from gnninterpreter.evidence.patterns.answers import RealAnswers
from gnninterpreter.evidence.patterns.cores import find_cores
from tests.evidence.patterns.pairs import (
    PAIRED_CLASS,
    PLAIN_CLASS,
    chain,
    classifier,
    real_graphs,
)


def test_graphs_turn_without_the_cores_of_their_class():
    real = real_graphs()
    cores = find_cores(real, PAIRED_CLASS).cores
    effect = falls_back(real, PLAIN_CLASS, PAIRED_CLASS, cores)
    assert effect is not None
    assert effect.value == 1.0
    assert effect.control is not None
    assert effect.control < 0.9
    assert falls_back(real, PLAIN_CLASS, PAIRED_CLASS, ()) is None


def test_a_class_that_is_what_is_left_has_no_core_and_says_so():
    graphs = [chain(colours) for colours in ["bbbb"] * 12 + ["bbbbrr"] * 12]
    found = RealAnswers(classifier(), graphs, None).about(PLAIN_CLASS)
    assert found.cores == []
    assert found.left_over
    assert not RealAnswers(classifier(), graphs, None).about(PAIRED_CLASS).left_over
    assert any(note.startswith("no core: no piece") for note in found.notes)
    (said,) = [note for note in found.notes if note.startswith("it is what is left")]
    assert "gives 'plain' to 100% of those of 'paired' (" in said
    assert said.endswith("% without as many other nodes)")


def test_only_a_class_that_halves_of_others_turn_to_is_looked_at():
    real = real_graphs()
    assert may_fall_back(real, PLAIN_CLASS, PAIRED_CLASS)
    # Half of a plain chain never holds two red neighbours.
    assert not may_fall_back(real, PAIRED_CLASS, PLAIN_CLASS)


def test_cores_that_tell_nothing_leave_nothing(monkeypatch):
    graphs = [chain(colours) for colours in ["bbbb"] * 12 + ["bbbbrr"] * 12]
    monkeypatch.setattr(answers, "LEAVING", 1.01)
    assert not RealAnswers(classifier(), graphs, None).about(PLAIN_CLASS).left_over
