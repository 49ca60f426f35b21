"""L1 and L2 norms of the edge latents (equation 7)."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.errors import SpecError
from gnninterpreter.objective import LatentNorm
from tests.tiny import RICH, distribution, edges_only, iterate


def test_equation_7_by_hand() -> None:
    of = edges_only([[3.0, -4.0, 0.0], [1.0, 2.0, -2.0]], 3)
    assert LatentNorm(1).soft(iterate(of)).tolist() == pytest.approx([7.0, 5.0])
    assert LatentNorm(2).soft(iterate(of)).tolist() == pytest.approx([5.0, 3.0])


def test_only_edge_latents_count() -> None:
    of = distribution(RICH, 4)
    changed = of.with_latents([of.edge_logits, *(latent + 9.0 for latent in of.latents()[1:])])
    for order in (1, 2):
        assert torch.equal(
            LatentNorm(order).soft(iterate(changed)), LatentNorm(order).soft(iterate(of))
        )


def test_the_gradient_at_zero_is_finite() -> None:
    of = edges_only([[0.0, 0.0, 0.0]], 3)
    logits = of.edge_logits.requires_grad_()
    for order in (1, 2):
        loss = LatentNorm(order).soft(iterate(of))
        assert torch.autograd.grad(loss.sum(), logits)[0].tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("order", [0, 3, -1])
def test_other_orders_are_refused(order: int) -> None:
    with pytest.raises(SpecError, match=rf"order must be 1 or 2 \(got {order}\)"):
        LatentNorm(order)
