"""Cosine similarity to the mean embedding of the class (equation 1, second term)."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.objective import EmbeddingSimilarity
from tests.tiny import PLAIN, distribution, goal, iterate


def test_equation_1_takes_the_cosine() -> None:
    embedding = torch.tensor([[[3.0, 4.0], [4.0, -3.0], [-6.0, -8.0], [1.0, 0.0]]]).double()
    of = distribution(PLAIN, 3)
    found = EmbeddingSimilarity()(
        iterate(of, logits=embedding, embedding=embedding, aim=goal(mean=[30.0, 40.0]))
    )
    assert found[0].tolist() == pytest.approx([-1.0, 0.0, 1.0, -0.6])


def test_each_restart_is_compared_with_its_own_class() -> None:
    embedding = torch.tensor([[[1.0, 0.0]], [[1.0, 0.0]]]).double()
    aim = goal(2, mean=[1.0, 0.0])
    assert aim.mean_embedding is not None
    aim.mean_embedding[1] = torch.tensor([0.0, 2.0])
    of = distribution(PLAIN, 3, restarts=2)
    found = EmbeddingSimilarity()(iterate(of, embedding=embedding, aim=aim))
    assert found.flatten().tolist() == pytest.approx([-1.0, 0.0])


def test_without_statistics_there_is_nothing_to_be_like() -> None:
    of = distribution(PLAIN, 3, restarts=2)
    found = EmbeddingSimilarity()(iterate(of, logits=torch.ones(2, 5, 3).double()))
    assert found.tolist() == [[0.0] * 5] * 2


def test_an_embedding_of_zeros_has_a_finite_gradient() -> None:
    embedding = torch.zeros(1, 1, 2, dtype=torch.double, requires_grad=True)
    of = distribution(PLAIN, 3)
    found = EmbeddingSimilarity()(
        iterate(of, logits=embedding, embedding=embedding, aim=goal(mean=[1.0, 1.0]))
    )
    assert found.item() == 0.0
    assert torch.isfinite(torch.autograd.grad(found.sum(), embedding)[0]).all()
