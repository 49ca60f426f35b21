"""Random walks: they find what they look for, keep the best they saw, and stop when satisfied."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search import Evaluation, Problem
from gnninterpreter.search.anneal import random_walkers, walk
from tests.tiny import PLAIN, SPECS, problem


def likeness(graphs: DenseGraphs) -> Tensor:
    """The closer to five edges on four nodes, the more probable."""
    return torch.exp(-((graphs.num_edges - 5).abs() + (graphs.num_nodes - 4).abs()))


def unlikeness(graphs: DenseGraphs) -> Tensor:
    """What an objective makes of it: high costs, 0 for what leaves nothing to be desired."""
    return -20.0 * likeness(graphs).log()


TASK = problem(unlikeness, likeness)


def walked(
    walkers: DenseGraphs, streams: Streams, steps: int, task: Problem = TASK
) -> tuple[DenseGraphs, Evaluation]:
    best = walk(task, walkers, streams, steps)
    return best, task.evaluate(best)


@pytest.mark.parametrize("name", SPECS)
def test_walkers_begin_anywhere(name: str) -> None:
    spec = SPECS[name]
    walkers = random_walkers(spec, 7, 40, Streams(0, 3), torch.float64)
    assert len(walkers) == 120
    assert ((walkers.weight == 0) | (walkers.weight == 1)).all()
    assert (walkers.weight.diagonal(dim1=1, dim2=2) == 0).all()
    assert spec.directed or torch.equal(walkers.weight, walkers.weight.transpose(1, 2))
    assert {3.0, 7.0} <= set(walkers.num_nodes.round().tolist())
    pairs = 42 if spec.directed else 21
    density = walkers.num_edges / pairs
    assert density.min() < 0.15
    assert density.max() > 0.7
    assert walkers.nodes.shape[:2] == (120, 7)


def test_a_restart_has_the_same_walkers_whatever_their_number() -> None:
    few, many = (random_walkers(PLAIN, 6, 5, Streams(3, r), torch.float64) for r in (2, 4))
    assert torch.equal(few.weight, many.weight[:10])


def test_walks_find_the_graph_that_leaves_nothing_to_be_desired() -> None:
    streams = Streams(1, 4)
    walkers = random_walkers(PLAIN, 7, 6, streams, torch.float64)
    best, seen = walked(walkers, streams, 200)
    assert len(best) == 4
    assert seen.cost.tolist() == pytest.approx([0.0] * 4, abs=1e-9)
    assert best.num_edges.tolist() == [5.0] * 4


def test_the_best_that_was_seen_is_never_worse_than_where_the_walkers_began() -> None:
    streams = Streams(2, 40)
    walkers = random_walkers(PLAIN, 7, 2, streams, torch.float64)
    first = unlikeness(walkers).view(40, 2).min(dim=1).values
    _, seen = walked(walkers, streams, 3)
    assert (seen.cost <= first + 1e-9).all()
    assert (seen.cost < first - 1).any()
    none, unmoved = walked(walkers, streams, 0)
    assert torch.allclose(unmoved.cost, first)
    assert len(none) == 40


def test_a_restart_comes_to_the_same_whatever_their_number() -> None:
    def ended(restarts: list[int]) -> Tensor:
        streams = Streams(5, restarts)
        walkers = random_walkers(PLAIN, 6, 4, streams, torch.float64)
        return walked(walkers, streams, 40)[0].weight

    together = ended([0, 1, 2, 3])
    for r in range(4):
        assert torch.equal(ended([r])[0], together[r])


def test_walks_end_when_every_restart_is_satisfied() -> None:
    asked = []

    def count(graphs: DenseGraphs) -> Tensor:
        asked.append(len(graphs))
        return torch.zeros(len(graphs), dtype=torch.double)

    streams = Streams(0, 2)
    walkers = random_walkers(PLAIN, 6, 4, streams, torch.float64)
    walk(problem(count), walkers, streams, 500)
    assert len(asked) < 20
