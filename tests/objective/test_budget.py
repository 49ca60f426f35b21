"""The budget (equation 8) and the soft wholeness in its place, at the limit and on both sides."""

from __future__ import annotations

import math

import pytest
import torch

from gnninterpreter.objective import Budget, Wholeness
from tests.tiny import aim, edges_only, iterate

# Expected numbers of edges: 0.5 + 0.75 + 0.25 = 1.5, and very nearly 3 and 0.
DISTRIBUTION = edges_only(
    [[0.0, math.log(3), -math.log(3)], [60.0, 60.0, 60.0], [-60.0, -60.0, -60.0]], 3
)


@pytest.mark.parametrize("limit", [0.5, 1.5, 2.0, 10.0])
def test_equation_8_by_hand(limit: float) -> None:
    found = Budget().soft(iterate(DISTRIBUTION, after=aim(max_edges=limit)))
    expected = [math.log(1 + math.exp(size - limit)) ** 2 for size in (1.5, 3.0, 0.0)]
    assert found.tolist() == pytest.approx(expected)


def test_at_the_limit_equation_8_is_log_2_squared() -> None:
    found = Budget().soft(iterate(DISTRIBUTION, after=aim(max_edges=1.5)))
    assert found[0].item() == pytest.approx(math.log(2) ** 2)


def test_relative_budget_by_hand() -> None:
    found = Wholeness().soft(iterate(DISTRIBUTION, after=aim(max_edges=1.0)))
    assert found.tolist() == pytest.approx([0.5, 2.0, 0.0])


@pytest.mark.parametrize(
    ("limit", "slope"), [(1.4999, 1.0), (1.5001, 0.0), (40.0, 0.0)], ids=["above", "below", "far"]
)
def test_relative_budget_pulls_only_above_the_limit(limit: float, slope: float) -> None:
    of = DISTRIBUTION.select([0])
    logits = of.edge_logits.clone().requires_grad_()
    loss = Wholeness().soft(iterate(of.with_latents([logits, *of.node_logits]),
                                    after=aim(max_edges=limit)))  # fmt: skip
    assert loss.item() == pytest.approx(0.0, abs=1e-3)
    gradient = torch.autograd.grad(loss.sum(), logits)[0]
    theta = of.edge_probability
    assert torch.allclose(gradient, slope * theta * (1 - theta) / limit)


def test_the_paper_s_budget_still_pulls_below_the_limit() -> None:
    """Its softplus slackens near the boundary and never quite lets go (Appendix A)."""
    of = DISTRIBUTION.select([0])
    pulls = []
    for limit in (1.0, 1.5, 2.0, 4.0):
        logits = of.edge_logits.clone().requires_grad_()
        current = of.with_latents([logits, *of.node_logits])
        loss = Budget().soft(iterate(current, after=aim(max_edges=limit)))
        pulls.append(torch.autograd.grad(loss.sum(), logits)[0].sum().item())
    assert pulls == sorted(pulls, reverse=True)
    assert pulls[-1] > 0
