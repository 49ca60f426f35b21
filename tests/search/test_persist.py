"""Persistence: out of a local optimum, only for those who need it, and never to something worse."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search import refine
from gnninterpreter.search.persist import persist
from tests.tiny import CostJudge, goal, graph, stack

STAR = [(0, 1), (0, 2), (0, 3), (0, 4)]
TRIANGLE = [(0, 1), (1, 2), (0, 2)]


def two_wells(graphs: DenseGraphs) -> Tensor:
    """One edge is good, four or more are better and better up to ten, any other number is bad."""
    edges = graphs.num_edges
    few = torch.where(edges == 1, 1.5, 3.0)
    return torch.where(edges >= 4, 1.4 - 0.14 * edges, few.to(edges.dtype))


def judge() -> CostJudge:
    return CostJudge(two_wells)


def test_a_local_optimum_is_left_for_a_better_one() -> None:
    start, aim = graph(5, [(0, 1)]), goal()
    stuck, _ = refine(start, aim, judge(), Streams(0, 1))
    assert int(stuck.num_edges) == 1
    found, seen = persist(stuck, aim, judge(), Streams(0, 1), enough=2.0)
    assert int(found.num_edges) == 10
    assert float(seen.cost) == pytest.approx(0, abs=1e-9)


def test_those_with_enough_take_no_part() -> None:
    start, aim = stack([graph(5, STAR), graph(5, TRIANGLE)]), goal(restarts=2)
    found, seen = persist(start, aim, judge(), Streams(0, 2), enough=-1.0)
    assert torch.equal(found.weight, start.weight)
    assert torch.equal(seen.cost, two_wells(start))


def test_nothing_gets_worse_and_restarts_do_not_see_each_other() -> None:
    start = stack([graph(5, STAR), graph(5, TRIANGLE), graph(5, [(0, 1)])])
    together, seen = persist(start, goal(restarts=3), judge(), Streams(4, 3), enough=2.0)
    assert bool((seen.cost <= two_wells(start)).all())
    for place in range(3):
        streams = Streams(4, [place])
        alone, _ = persist(start[[place]], goal(), judge(), streams, enough=2.0)
        assert torch.equal(alone.weight, together[[place]].weight)


def test_a_look_ends_it() -> None:
    rounds: list[int] = []

    def look(number: int, graphs: DenseGraphs) -> bool:
        rounds.append(number)
        return number == 1

    start = graph(3, [(0, 1)])
    persist(start, goal(), CostJudge(lambda g: g.num_edges), Streams(0, 1), 2.0, look=look)
    assert rounds == [0, 1]
