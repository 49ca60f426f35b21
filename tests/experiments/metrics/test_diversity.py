from __future__ import annotations

import pytest
import torch

from gnninterpreter.experiments.metrics import diversity
from gnninterpreter.experiments.metrics.diversity import pairwise_cosine
from gnninterpreter.models import GraphClassifier, load
from tests.experiments.metrics.molecules import molecule


@pytest.fixture(scope="module")
def mutag() -> GraphClassifier:
    bundle = load("mutag")
    return GraphClassifier(bundle.model, bundle.spec)


def test_pairwise_cosine():
    rows = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    assert pairwise_cosine(rows) == pytest.approx(1 / 3)
    assert pairwise_cosine(rows[:1]) == 1.0


def test_diversity_counts_graphs_up_to_renumbering(mutag):
    one = molecule("N O C", [(0, 1), (0, 2)])
    renamed = molecule("C N O", [(0, 1), (1, 2)])
    other = molecule("C O N", [(0, 1), (1, 2)])
    same = diversity(mutag, [one, renamed])
    assert (same.distinct, same.distance) == (0.5, 0.0)
    assert diversity(mutag, [one, other]).distinct == 1.0
    assert diversity(mutag, [one, other]).distance > 0
