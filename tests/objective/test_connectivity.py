"""Connectivity (equation 9) against the triple sum as it is written."""

from __future__ import annotations

import math

import pytest
import torch

from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.objective import Connectivity
from gnninterpreter.objective.connectivity import incident_edges
from gnninterpreter.spec import GraphSpec
from tests.tiny import distribution, edges_only, iterate


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
