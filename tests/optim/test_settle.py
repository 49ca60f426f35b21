"""Settling: the mode is the given graph, certain enough for the level and no more certain."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.optim import settle
from gnninterpreter.optim.settle import centred
from tests.tiny import (
    DIRECTED,
    RICH,
    SPECS,
    CostJudge,
    distribution,
    edges_only,
    goal,
    graph,
    stack,
)

SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]


def four_edges(graphs: DenseGraphs) -> Tensor:
    """One for graphs with four edges, half for each that is missing or too much."""
    return 0.5 ** (graphs.num_edges - 4).abs()


def judge(probability: Callable[[DenseGraphs], Tensor] = four_edges) -> CostJudge:
    return CostJudge(lambda graphs: -probability(graphs), probability)


def assert_same(one: DenseGraphs, other: DenseGraphs) -> None:
    assert torch.equal(one.weight, other.weight)
    assert torch.allclose(one.nodes, other.nodes, atol=1e-3)
    if one.edges is not None and other.edges is not None:
        off = ~torch.eye(one.num_candidates, dtype=torch.bool)
        assert torch.allclose(one.edges[:, off], other.edges[:, off], atol=1e-3)


@pytest.mark.parametrize("name", SPECS)
def test_the_mode_of_what_comes_out_is_the_given_graph(name: str) -> None:
    spec = SPECS[name]
    learned = distribution(spec, 5, restarts=6, seed=1)
    graphs = random_graphs(spec, 6, 5, torch.Generator().manual_seed(2), dtype=torch.float64)
    for factor in (1.0, 3.0):
        assert_same(centred(learned, graphs, factor).mode(), graphs)
    settled, _ = settle(learned, graphs, goal(6), judge(), 0.9, Streams(0, 6))
    assert_same(settled.mode(), graphs)


@pytest.mark.parametrize("level", [0.6, 0.8, 0.95, 0.99])
def test_the_level_is_reached_where_the_mode_allows(level: float) -> None:
    learned = distribution(SPECS["plain"], 5, restarts=4, seed=3)
    graphs = stack([graph(5, SQUARE)] * 4)
    settled, reached = settle(learned, graphs, goal(4), judge(), level, Streams(0, 4))
    assert (reached >= level).all()
    fresh = settled.discrete(4000, Streams(77, 4))
    means = four_edges(fresh).view(4, -1).mean(dim=1)
    assert (means >= level - 0.02).all()
    assert means.tolist() == pytest.approx(reached.tolist(), abs=0.05)


def test_the_higher_the_level_the_less_is_left_open() -> None:
    learned = distribution(SPECS["plain"], 6, restarts=3, seed=3)
    graphs = stack([graph(6, SQUARE)] * 3)
    left = [
        settle(learned, graphs, goal(3), judge(), level, Streams(0, 3))[0].undecided()
        for level in (0.1, 0.5, 0.9, 0.99)
    ]
    for looser, tighter in pairwise(left):
        assert (tighter <= looser + 1e-9).all()
    assert (left[-1] < left[0]).all()


def test_a_larger_factor_leaves_less_open() -> None:
    learned = distribution(RICH, 4, restarts=3, seed=5)
    graphs = random_graphs(RICH, 3, 4, torch.Generator().manual_seed(0), dtype=torch.float64)
    left = [centred(learned, graphs, factor).undecided() for factor in (1.0, 1.5, 3.0, 10.0)]
    for looser, tighter in pairwise(left):
        assert (tighter < looser).all()


def test_what_need_not_be_certain_stays_as_it_was_learned() -> None:
    learned = edges_only([[2.0, 3.0, -1.5]], 3)
    path = graph(3, [(0, 1), (0, 2)])
    settled, reached = settle(
        learned,
        path,
        goal(),
        judge(lambda graphs: torch.ones(len(graphs))),
        0.99,
        Streams(0, 1),
    )
    assert settled.edge_logits.tolist() == learned.edge_logits.tolist()
    assert reached.tolist() == [1.0]


def test_logits_on_the_wrong_side_are_moved_over() -> None:
    learned = edges_only([[-2.0, 0.1, 4.0]], 3)
    settled = centred(learned, graph(3, [(0, 1), (0, 2)]))
    sides = settled.edge_logits[0]
    assert (sides[:2] > 0.5).all()
    assert sides[2] < -0.5


def test_a_mode_below_the_level_gets_as_close_as_it_can() -> None:
    def never_sure(graphs: DenseGraphs) -> Tensor:
        return 0.7 * four_edges(graphs)

    learned = distribution(SPECS["plain"], 5, seed=3)
    square = graph(5, SQUARE)
    _, reached = settle(learned, square, goal(), judge(never_sure), 0.99, Streams(0, 1))
    assert float(reached) == pytest.approx(0.7, abs=0.005)


def test_a_restart_settles_the_same_whatever_their_number() -> None:
    learned = distribution(DIRECTED, 4, restarts=5, seed=2)
    graphs = random_graphs(DIRECTED, 5, 4, torch.Generator().manual_seed(4), dtype=torch.float64)
    many, reached = settle(learned, graphs, goal(5), judge(), 0.8, Streams(6, 5))
    for r in range(5):
        alone, mean = settle(
            learned.select([r]),
            graphs[r],
            goal(),
            judge(),
            0.8,
            Streams(6, [r]),
        )
        assert torch.allclose(alone.edge_logits[0], many.edge_logits[r])
        assert float(mean) == pytest.approx(float(reached[r]))
