"""Decisiveness: the entropy, for each edge of the limit."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.objective import Entropy
from tests.tiny import COLOURED, aim, distribution, edges_only, iterate


def test_entropy_by_hand() -> None:
    of = edges_only([[0.0, 0.0, 90.0], [90.0, -90.0, 90.0]], 3)
    found = Entropy().soft(iterate(of, after=aim(max_edges=4.0)))
    assert found.tolist() == pytest.approx([0.5, 0.0], abs=1e-9)


def test_a_step_downhill_moves_edges_away_from_one_half() -> None:
    of = edges_only([[0.2, -0.2, 0.01]], 3)
    logits = of.edge_logits.requires_grad_()
    gradient = torch.autograd.grad(Entropy().soft(iterate(of)).sum(), logits)[0]
    assert (gradient * logits < 0).all()


def test_collapsed_distributions_have_a_finite_gradient() -> None:
    of = distribution(COLOURED, 3)
    latents = [(latent * 1e4).requires_grad_() for latent in of.latents()]
    loss = Entropy().soft(iterate(of.with_latents(latents)))
    assert loss.item() == pytest.approx(0.0, abs=1e-6)
    for gradient in torch.autograd.grad(loss.sum(), latents):
        assert torch.isfinite(gradient).all()
