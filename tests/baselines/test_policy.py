from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gnninterpreter.baselines.xgnn.building import Rules, State
from gnninterpreter.baselines.xgnn.policy import Policy, generate, kept, roll_out
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models import load


class Trees:
    """A stand-in for a model: 0.9 for trees of at least three nodes, 0.1 for all else."""

    def __init__(self) -> None:
        self.spec = load("is_acyclic").spec
        self.dtype = torch.float32

    def probability(self, graphs: DenseGraphs, target: int) -> Tensor:
        edges, nodes = graphs.weight.sum((1, 2)) / 2, (graphs.weight.sum(2) > 0).sum(1)
        return torch.where((edges == nodes - 1) & (nodes > 2), 0.9, 0.1)


def policy(rules: Rules) -> Policy:
    return Policy(rules.num_types, torch.Generator().manual_seed(0))


def test_first_edges_stay_and_other_losses_are_undone():
    counts = torch.tensor([1, 2, 2, 1])
    state = State(torch.zeros(4, 3, 3), torch.zeros(4, 3, 1), counts)
    legal = torch.tensor([True, True, True, False])
    value = torch.tensor([-1.0, -0.1, 0.0, 5.0])
    assert kept(state, legal, value).tolist() == [True, False, True, False]


def test_nodes_of_one_kind_look_like_new_ones_to_the_policy():
    # On a single edge both ends and the new node have one embedding, so that the illegal double
    # edge and the legal third node are equally likely whatever the weights are.
    rules = Rules.of(load("is_acyclic").spec, 5)
    state, _ = rules.apply(rules.begin(400), torch.zeros(400).long(), torch.full((400,), 5))
    _, end, log_probability = policy(rules)(state, torch.Generator().manual_seed(1))
    # Half for the start, half for the end.
    assert torch.allclose(log_probability.detach().exp(), torch.tensor(0.25), atol=1e-5)
    assert (end == 5).double().mean() == pytest.approx(0.5, abs=0.1)


def test_rollouts_of_one_kind_end_as_a_single_edge_half_the_time():
    rules = Rules.of(load("is_acyclic").spec, 5)
    generator = torch.Generator().manual_seed(2)
    final, broken = roll_out(policy(rules), rules, rules.begin(600), 30, generator)
    assert bool(broken.all())
    assert (final.count == 2).double().mean() == pytest.approx(0.5, abs=0.07)


def test_generation_keeps_what_the_class_needs():
    rules = Rules.of(load("is_acyclic").spec, 6)
    generator = torch.Generator().manual_seed(3)
    state = generate(policy(rules), rules, Trees(), 1, 50, 40, generator)  # type: ignore[arg-type]
    edges = state.weight.sum((1, 2)) / 2
    # An edge is the way to trees, and no cycle is ever kept.
    assert torch.equal(edges, (state.count - 1).float())


def test_stuck_at_an_edge_where_every_path_is_a_loss():
    class Edges(Trees):
        def probability(self, graphs: DenseGraphs, target: int) -> Tensor:
            return torch.where(graphs.weight.sum((1, 2)) == 2, 1.0, 0.0)

    rules = Rules.of(load("is_acyclic").spec, 6)
    generator = torch.Generator().manual_seed(3)
    state = generate(policy(rules), rules, Edges(), 0, 20, 10, generator)  # type: ignore[arg-type]
    assert set(state.count.tolist()) == {2}
