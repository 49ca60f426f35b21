"""What a model says of real graphs, held against labels made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool

from gnninterpreter.evidence.evidence import Evidence
from gnninterpreter.evidence.labels import model_is_right
from gnninterpreter.evidence.reaching import Case
from gnninterpreter.evidence.verdict import verdict_on
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import ValueTarget
from tests.evidence.patterns.pairs import PAIRED, PLAIN, SPEC, chain
from tests.evidence.test_controls import case, check, labelled
from tests.explanation.made import explanation


class Reds(nn.Module):
    """The number of red nodes, less 0.02."""

    def __init__(self) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.tensor(0.02))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return global_add_pool(x[:, 1:], batch) - self.shift


def test_a_model_is_right_where_the_labels_say_so() -> None:
    right = [labelled(c, 1) for c in PAIRED] + [labelled(c, 0) for c in PLAIN]
    found = check("model is right", case(right))
    assert (found.passed, found.value, found.reference) == (True, 1.0, 0.5)
    # Of ten that it gives the class six have it, and half of all: a skill of 0.2.
    mixed = [labelled(c, int(i < 6)) for i, c in enumerate(PAIRED)]
    mixed += [labelled(c, int(i < 4)) for i, c in enumerate(PLAIN)]
    found = check("model is right", case(mixed))
    assert (found.passed, found.value, found.reference) == (False, 0.6, 0.5)
    assert found.sentence.startswith("the model is often wrong: only 60% of the real graphs")
    # Of a class that nearly all graphs have, it is seldom wrong, and neither is a guess.
    common = [labelled(c, int(i > 0)) for i, c in enumerate((*PAIRED, *PAIRED, *PLAIN))]
    found = check("better than a guess", case(common))
    assert (found.passed, found.value) == (False, 0.95)
    assert found.sentence.startswith("the model is hardly better than a guess: 95% of the real")
    never = check("model is right", case([labelled(c, i % 2) for i, c in enumerate(PLAIN)]))
    assert never.passed is False
    assert never.sentence == "the model gives the class to none of 10 real graphs, and 50% have it"
    assert check("model is right", case([chain(c) for c in PAIRED])).passed is None


@pytest.mark.parametrize(("missed", "passed"), [(10, True), (25, False)])
def test_a_model_that_seldom_gives_a_class_misses_most_of_it(missed: int, passed: bool) -> None:
    """It is right about all ten that it gives the class, which says nothing of the others."""
    graphs = [labelled(c, 1) for c in PAIRED]
    graphs += [labelled(c, int(i < missed)) for i, c in enumerate(PLAIN * 9)]
    found = model_is_right(case(graphs))
    assert found.passed is passed
    if passed:
        assert found.sentence.endswith("; of those that have it 50% are given it")
    else:
        assert (found.name, found.value, found.reference) == ("finds its graphs", 10 / 35, 0.1)
        assert "the class to only 28.6% of the real graphs that have it by their" in found.sentence
        assert verdict_on(Evidence((found,))).word == "the model misses most of its graphs"


def test_a_model_that_finds_most_of_a_common_class_does_not_miss_it() -> None:
    """It gives the class to 95% of those that have it, and to hardly fewer of all."""
    graphs = [labelled(c, 1) for c in PAIRED * 19] + [
        labelled(c, int(i < 10)) for i, c in enumerate(PLAIN * 2)
    ]
    found = model_is_right(case(graphs))
    assert (found.name, found.passed) == ("model is right", True)


def test_more_graphs_are_asked_about_where_few_have_the_class() -> None:
    """Of 500 some five would have it."""
    graphs = [labelled(c, int(i < 8)) for i, c in enumerate(PAIRED)]
    graphs += [labelled(c, 0) for c in PLAIN * 99]
    found = model_is_right(case(graphs))
    assert (found.value, found.reference) == (0.8, 0.008)
    assert len(case(graphs).drawn) == 500


@pytest.fixture
def valued() -> Case:
    """The least number of red nodes; no label is below 0, and the model says -0.02 of those."""
    graphs = []
    for number in range(20):
        one = chain("b" * (8 - number % 4) + "r" * (number % 4))
        one.y = torch.tensor([float(number % 4)])
        graphs.append(one)
    spec = replace(SPEC, class_names=("red",))
    known = GraphClassifier(Reds(), spec, examples=graphs, task="regression")
    target = ValueTarget(0, "min", "min", -0.01, 1.0, "red")
    made = explanation(dense_graphs([chain("bbb")], SPEC), target=0, probabilities=[0.999])
    return Case(replace(made, spec=spec, target=target), known, graphs=graphs)


def test_values_are_right_where_they_are_as_far_out_as_labels_are(valued: Case) -> None:
    found = model_is_right(valued)
    assert (found.passed, found.value, found.reference) == (True, 1.0, 0.25)
    assert "are as far out by their label" in found.sentence
    for graph in valued.drawn:
        graph.y = 3 - graph.y
    assert model_is_right(valued).passed is False


@pytest.mark.parametrize(("own", "passed"), [(-9.9, True), (-4.0, False)])
def test_where_labels_hardly_differ_they_may_be_about_as_far_out(
    valued: Case, own: float, passed: bool
) -> None:
    """Of two kinds with about the same label the model gives the least to the other one."""
    labels = own, -10.1, 0.0, 5.0
    for graph in valued.drawn:
        graph.y = torch.tensor([labels[int(graph.x[:, 1].sum())]])
    found = model_is_right(valued)
    assert found.passed is passed
    if passed:
        assert found.sentence.endswith("are 96.9% of the way from the mean to those farthest out")


def test_values_that_do_not_go_along_with_labels_are_often_wrong(valued: Case) -> None:
    """The least are right; the others are in no order, as where a few labels are far off."""
    for number, graph in enumerate(valued.drawn):
        red = float(graph.x[:, 1].sum())
        graph.y = torch.tensor([red if red == 0 else 40.0 if number < 2 else 3.0 - red / 10])
    found = model_is_right(valued)
    assert (found.name, found.passed) == ("model is right", False)
    assert "of how labels differ goes along with its values (r2)" in found.sentence
