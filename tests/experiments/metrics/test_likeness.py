from __future__ import annotations

import math

import pytest

from gnninterpreter.datasets.mutag import MUTAG
from gnninterpreter.experiments.metrics import likeness, validation_score
from gnninterpreter.experiments.metrics.likeness import degree_likeness, density, granularity
from gnninterpreter.models import GraphClassifier, load
from tests.experiments.metrics.molecules import molecule


@pytest.fixture(scope="module")
def mutag() -> GraphClassifier:
    bundle = load("mutag")
    return GraphClassifier(bundle.model, bundle.spec)


def test_validation_score_is_the_geometric_mean():
    assert validation_score(1.0, 0.5, 0.25) == pytest.approx(0.5)
    assert validation_score(1.0, -0.3, 1.0) == 0.0


def test_degree_likeness():
    assert degree_likeness(1.2, 1.2, 0.1) == 1.0
    assert degree_likeness(1.3, 1.2, 0.1) == pytest.approx(math.exp(-0.5))
    assert (degree_likeness(1.2, 1.2, 0.0), degree_likeness(1.3, 1.2, 0.0)) == (1.0, 0.0)


def test_sizes():
    assert granularity(5, 20.0) == 0.75
    assert granularity(30, 20.0) == 0.0
    assert density(molecule("I I I I", [(0, 1), (0, 2), (0, 3)])) == 0.5
    # All six ordered pairs of three nodes: complete, not twice as dense as that.
    assert density(molecule("C C C", [(0, 1), (0, 2), (1, 2)])) == 1.0


def test_likeness_of_a_real_molecule_beats_that_of_a_star_of_iodine(mutag):
    statistics = load("mutag").statistics
    real = next(g for g in MUTAG() if int(g.y) == 1)
    star = molecule("I I I I", [(0, 1), (0, 2), (0, 3)])
    good, bad = (likeness(mutag, statistics, graph, 1) for graph in (real, star))
    assert good.score > bad.score


def test_a_graph_without_edges_is_like_nothing(mutag):
    statistics = load("mutag").statistics
    assert likeness(mutag, statistics, molecule("", []), 1).score == 0.0
