from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gnninterpreter.evidence.checks import lacks_other_cores
from gnninterpreter.evidence.patterns import answers
from gnninterpreter.evidence.patterns.absence import falls_back, may_fall_back
from gnninterpreter.evidence.patterns.answers import RealAnswers
from gnninterpreter.evidence.patterns.causes import random_others
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.cores import Cores, find_cores
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.typed import typed_graphs
from tests.evidence.patterns.pairs import (
    PAIRED_CLASS,
    PLAIN_CLASS,
    SPEC,
    chain,
    classifier,
    real_graphs,
)
from tests.evidence.test_controls import case


def test_graphs_turn_without_the_cores_of_their_class():
    real = real_graphs()
    cores = find_cores(real, PAIRED_CLASS).cores
    effect = falls_back(real, PLAIN_CLASS, PAIRED_CLASS, cores)
    assert effect is not None
    assert effect.value == 1.0
    assert effect.control is not None
    assert effect.control < 0.9
    assert falls_back(real, PLAIN_CLASS, PAIRED_CLASS, ()) is None


def test_in_small_graphs_the_control_leaves_the_core_alone():
    """Any two neighbours of four hold a red one; the two that are not red do not."""
    graphs = [chain("brrb")] * 12 + [chain("bbbb")] * 12
    real = RealGraphs(classifier(), graphs)
    core = Core(chain("rr"), SPEC, 1.0, True)
    effect = falls_back(real, PLAIN_CLASS, PAIRED_CLASS, [core])
    assert effect is not None
    assert (effect.value, effect.control, effect.graphs) == (1.0, 0.0, 12)


def test_as_many_other_nodes_are_connected_as_far_as_they_are():
    rng = np.random.default_rng(0)
    path = typed_graphs([chain("bbbbbbb")], SPEC)[0]
    middle = 0b0011000
    drawn = {random_others(path, middle, rng) for _ in range(60)}
    assert drawn == {0b0000011, 0b0000110, 0b1100000}
    # With one node at either end there is no piece of two.
    assert random_others(typed_graphs([chain("bbbb")], SPEC)[0], 0b0110, rng) == 0b1001
    assert random_others(path, 0b0111110, rng) == 0
    assert random_others(path, 0, rng) == 0


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
    assert [core.held_by(chain("brrb")) for core in found.lacked] == [True]
    assert not lacks_other_cores(replace(case([], colours="brrb"), answers=found)).passed
    assert lacks_other_cores(replace(case([], colours="bbrb"), answers=found)).passed
    assert lacks_other_cores(case([])) is None


@pytest.mark.parametrize(("told", "left_over"), [(0.52, True), (0.9, False)])
def test_a_core_of_a_few_graphs_does_not_make_a_class_that_is_left(told: float, left_over: bool):
    graphs = [chain(colours) for colours in ["bbbb"] * 12 + ["bbbbrr"] * 12]
    about = RealAnswers(classifier(), graphs, None)
    few = Core(chain("bbb"), SPEC, 1.0, True, coverage=0.04, lift=9.0)
    about._known[PLAIN_CLASS] = Cores(PLAIN_CLASS, 0.99, (few,), 1, told=told)
    assert about.about(PLAIN_CLASS).left_over is left_over


@pytest.mark.parametrize(("coverage", "shown"), [(0.02, 0), (0.2, 1)])
def test_what_is_left_shows_no_core_of_hardly_any_graph(coverage: float, shown: int):
    graphs = [chain(colours) for colours in ["bbbb"] * 12 + ["bbbbrr"] * 12]
    about = RealAnswers(classifier(), graphs, None)
    core = Core(chain("bbb"), SPEC, 1.0, True, coverage=coverage, lift=9.0)
    about._known[PLAIN_CLASS] = Cores(PLAIN_CLASS, 0.99, (core,), 1, told=0.52)
    found = about.about(PLAIN_CLASS)
    assert len(found.cores) == shown
    said = "no core: no piece that tells anything lies in more than 2% of its graphs"
    assert (said in found.notes) is (not shown)


def test_cores_that_a_quick_look_misses_are_looked_for_with_care():
    graphs = [chain(colours) for colours in ["bbbb"] * 12 + ["bbbbrr"] * 12]
    about = RealAnswers(classifier(), graphs, None)
    about._fewer[PAIRED_CLASS] = Cores(PAIRED_CLASS, 0.99, (), 0, told=0.5)
    assert about.about(PLAIN_CLASS).left_over
    assert about._known[PAIRED_CLASS].cores


def test_what_one_class_needs_of_another_does_not_depend_on_their_order():
    graphs = [chain(colours) for colours in ["bbbb"] * 12 + ["bbbbrr"] * 12]
    both = (PLAIN_CLASS, PAIRED_CLASS)
    found = []
    for order in (both, both[::-1]):
        about = RealAnswers(classifier(), graphs, None, asked=both)
        each = {target: about.about(target) for target in order}
        assert not about._fewer
        found.append([(len(each[t].cores), each[t].notes, each[t].left_over) for t in both])
    assert found[0] == found[1]


def test_only_a_class_that_halves_of_others_turn_to_is_looked_at():
    real = real_graphs()
    assert may_fall_back(real, PLAIN_CLASS, PAIRED_CLASS)
    # Half of a plain chain never holds two red neighbours.
    assert not may_fall_back(real, PAIRED_CLASS, PLAIN_CLASS)


def test_cores_that_tell_nothing_leave_nothing(monkeypatch):
    graphs = [chain(colours) for colours in ["bbbb"] * 12 + ["bbbbrr"] * 12]
    monkeypatch.setattr(answers, "LEAVING", 1.01)
    assert not RealAnswers(classifier(), graphs, None).about(PLAIN_CLASS).left_over
