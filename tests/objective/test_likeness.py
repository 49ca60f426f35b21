"""Cosine similarity to the mean embedding of the class (equation 1, second term)."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.objective import Likeness
from tests.tiny import PLAIN, aim, distribution, iterate


def test_equation_1_takes_the_cosine() -> None:
    embedding = torch.tensor([[[3.0, 4.0], [4.0, -3.0], [-6.0, -8.0], [1.0, 0.0]]]).double()
    of = distribution(PLAIN, 3)
    found = Likeness().soft(
        iterate(of, logits=embedding, embedding=embedding, after=aim(mean=[30.0, 40.0]))
    )
    assert found[0].tolist() == pytest.approx([-1.0, 0.0, 1.0, -0.6])


def test_without_statistics_there_is_nothing_to_be_like() -> None:
    of = distribution(PLAIN, 3, restarts=2)
    assert Likeness().soft(iterate(of, logits=torch.ones(2, 5, 3).double())) is None


def test_an_embedding_of_zeros_has_a_finite_gradient() -> None:
    embedding = torch.zeros(1, 1, 2, dtype=torch.double, requires_grad=True)
    of = distribution(PLAIN, 3)
    found = Likeness().soft(
        iterate(of, logits=embedding, embedding=embedding, after=aim(mean=[1.0, 1.0]))
    )
    assert found.item() == 0.0
    assert torch.isfinite(torch.autograd.grad(found.sum(), embedding)[0]).all()
