"""Norms (equation 7), the budget (8) and its soft stand-in, connectivity (9), entropy."""

from __future__ import annotations

import math

import pytest
import torch

from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.errors import SpecError
from gnninterpreter.objective import Budget, Connectivity, Entropy, LatentNorm, Wholeness
from gnninterpreter.objective.regularisers import incident_edges
from gnninterpreter.spec import GraphSpec
from tests.tiny import COLOURED, RICH, aim, distribution, edges_only, iterate


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


def divergence(p: float, q: float) -> float:
    """KL divergence between two Bernoulli distributions."""
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def by_brute_force(of: GraphDistribution, restart: int) -> float:
    """The sum over nodes and over ordered pairs of candidate edges at that node, either end."""
    n = of.num_candidates
    theta = of.to_dense(of.edge_probability)[restart]
    total = 0.0
    for i in range(n):
        ends = [(i, j) for j in range(n) if j != i]
        if of.spec.directed:
            ends += [(j, i) for j in range(n) if j != i]
        for one in ends:
            for other in ends:
                total += divergence(float(theta[one]), float(theta[other]))
    return total


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_equation_9_as_the_triple_sum(size: int, directed: bool) -> None:
    of = distribution(GraphSpec(directed=directed), size, restarts=2, seed=size)
    found = Connectivity().soft(iterate(of))
    expected = [by_brute_force(of, r) for r in range(2)]
    assert found.tolist() == pytest.approx(expected)
    assert (size == 2 and not directed) or min(expected) > 0


def test_equation_9_by_hand() -> None:
    """Edges 01 and 02 share node 0 only: with 12 alike to 02, two nodes see a difference."""
    of = edges_only([[math.log(3), 0.0, 0.0]], 3)
    both = divergence(0.75, 0.5) + divergence(0.5, 0.75)
    assert Connectivity().soft(iterate(of)).item() == pytest.approx(2 * both)


def test_equal_edges_cost_nothing_however_probable() -> None:
    of = edges_only([[0.7] * 6, [-3.0] * 6, [0.0] * 6], 4)
    assert Connectivity().soft(iterate(of)).tolist() == pytest.approx([0.0] * 3, abs=1e-12)


def test_certain_edges_cost_a_finite_amount() -> None:
    of = edges_only([[1e4, -1e4, 0.0]], 3)
    logits = of.edge_logits.requires_grad_()
    loss = Connectivity().soft(iterate(of))
    assert 0 < loss.item() < 1e3
    assert torch.isfinite(torch.autograd.grad(loss.sum(), logits)[0]).all()


@pytest.mark.parametrize("directed", [False, True])
def test_each_candidate_edge_is_found_at_both_its_ends(directed: bool) -> None:
    size = 5
    at_node = incident_edges(size, directed, torch.device("cpu"))
    count = GraphDistribution.num_pairs(GraphSpec(directed=directed), size)
    assert at_node.shape == (size, 2 * count // size)
    assert torch.bincount(at_node.flatten(), minlength=count).tolist() == [2] * count


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
