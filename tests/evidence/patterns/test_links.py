"""Edges by kind that real graphs hold, and answers with one that none does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gnninterpreter.evidence.checks import typical
from gnninterpreter.evidence.patterns.answers import Answers, RealAnswers
from gnninterpreter.evidence.patterns.links import KnownLinks
from gnninterpreter.evidence.patterns.typed import typed_graphs
from tests.evidence.patterns.pairs import PAIRED, PLAIN, SPEC, chain, classifier
from tests.evidence.test_controls import case


def known(*colours: str) -> KnownLinks:
    return KnownLinks.of(typed_graphs([chain(one) for one in colours], SPEC))


def test_an_edge_that_no_real_graph_holds_is_odd() -> None:
    links = known("bbr", "rb", "bb", "brb")
    assert links.unseen(chain("brrb"), SPEC) == (1, 2)
    assert links.unseen(chain("bbrb"), SPEC) is None
    assert links.graphs == 4


def test_where_real_graphs_have_edges_of_their_own_one_more_is_nothing_odd() -> None:
    links = known("bbr", "rb", "bbb", "bb", "rrb")
    assert links.alone == pytest.approx(0.2)
    assert replace(links, held=known("bb").held).unseen(chain("brrb"), SPEC) is None


def test_such_a_graph_is_untypical_whatever_its_parts_are() -> None:
    one = case([], colours="brrb")
    restarts = [replace(restart, percentile=60.0) for restart in one.explanation.restarts]
    one = replace(one, explanation=replace(one.explanation, restarts=restarts))
    assert typical(replace(one, answers=Answers(links=known("brrb", "brrb")))).passed
    found = typical(replace(one, answers=Answers(links=known("bbr", "bbr"))))
    assert found.passed is False
    said = "none of 2 real graphs holds an edge between a node of colour red and one of colour red"
    assert said in found.sentence


def test_answers_know_the_edges_of_all_classes() -> None:
    links = RealAnswers(classifier(), [chain(one) for one in PAIRED + PLAIN], None).links
    assert links is not None
    assert len(links.held) == 3
