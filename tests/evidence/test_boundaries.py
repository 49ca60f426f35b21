"""Margin, thickness, complexity and adjacency, against figures by hand."""

from __future__ import annotations

import math

import pytest
import torch

from gnninterpreter.evidence.boundaries import adjacency, complexity, margin, thickness
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.head import scores_of_embeddings
from gnninterpreter.spec import GraphSpec
from tests.tiny import trained_shapes


def classifier() -> GraphClassifier:
    model, graphs = trained_shapes()
    return GraphClassifier(model, GraphSpec.from_dataset(graphs), examples=graphs)


def test_margin_is_the_least_distance() -> None:
    own = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    assert margin(own, torch.tensor([[3.0, 0.0], [6.0, 8.0]])) == pytest.approx(3.0)


def test_complexity_is_0_along_a_line_and_1_where_all_directions_are_alike() -> None:
    line = torch.arange(5.0).unsqueeze(1) * torch.tensor([[1.0, 2.0]])
    assert complexity(line) == pytest.approx(0.0, abs=1e-6)
    cross = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert complexity(cross) == pytest.approx(1.0)
    share = torch.tensor([0.8, 0.2], dtype=torch.double)
    skew = cross * torch.tensor([2.0, 1.0])
    assert complexity(skew) == pytest.approx(float(-(share * share.log()).sum()) / math.log(2))


def test_the_head_says_of_embeddings_what_the_model_says_of_their_graphs() -> None:
    model = classifier()
    _, graphs = trained_shapes()
    true = model.score_data(graphs)
    found = scores_of_embeddings(model, true.embedding)
    assert found is not None
    assert torch.allclose(found.logits, true.logits, atol=1e-5)


def test_thickness_and_adjacency_follow_the_ways_between_embeddings() -> None:
    model = classifier()
    _, graphs = trained_shapes()
    scores = model.score_data(graphs)
    own = scores.embedding[scores.logits.argmax(1) == 0]
    # From where the model is clear already there is nothing unclear on the way.
    assert thickness(model, own, own[:1], (0, 1)) == pytest.approx(0.0)
    other = scores.embedding[scores.logits.argmax(1) == 1]
    apart = thickness(model, own, other, (0, 1))
    assert apart is not None
    assert 0 < apart < float(torch.cdist(own, other).max())
    share = adjacency(model, graphs, 0, 1)
    assert share is not None
    assert 0 <= share <= 1
