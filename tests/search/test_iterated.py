"""Iterated search: out of a local optimum, only for those who need it, never to something worse."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gnninterpreter.distribution import Streams, from_graphs
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search import IteratedSearch, Monitor, Problem, Snapshot, State
from gnninterpreter.search import iterated as module
from gnninterpreter.search.local import improved
from tests.tiny import graph, problem, stack, unwatched

STAR = [(0, 1), (0, 2), (0, 3), (0, 4)]
TRIANGLE = [(0, 1), (1, 2), (0, 2)]


def two_wells(graphs: DenseGraphs) -> Tensor:
    """One edge is good, four or more are better and better up to ten, any other number is bad."""
    edges = graphs.num_edges
    few = torch.where(edges == 1, 1.5, 3.0)
    return torch.where(edges >= 4, 1.4 - 0.14 * edges, few.to(edges.dtype))


def unsure(graphs: DenseGraphs) -> Tensor:
    return torch.full((len(graphs),), 0.5)


def state(of: Problem, graphs: DenseGraphs) -> State:
    return State.begin(from_graphs(graphs), of)


def iterated(of: Problem, graphs: DenseGraphs, streams: Streams) -> State:
    return IteratedSearch()(of, state(of, graphs), streams, unwatched(of))


def test_a_local_optimum_is_left_for_a_better_one() -> None:
    task = problem(two_wells, unsure)
    stuck = improved(task, graph(5, [(0, 1)]), Streams(0, 1), 100)
    assert int(stuck.num_edges) == 1
    found = iterated(task, stuck, Streams(0, 1))
    assert int(found.graphs.num_edges) == 10
    assert float(found.evaluation.cost) == pytest.approx(0, abs=1e-9)
    # The distribution comes along.
    assert torch.equal(found.distribution.mode().weight, found.graphs.weight)


def test_those_with_enough_take_no_part() -> None:
    task, start = problem(two_wells), stack([graph(5, STAR), graph(5, TRIANGLE)])
    before = state(task, start)
    assert IteratedSearch()(task, before, Streams(0, 2), unwatched(task)) is before


def test_nothing_gets_worse_and_restarts_do_not_see_each_other() -> None:
    task = problem(two_wells, unsure)
    start = stack([graph(5, STAR), graph(5, TRIANGLE), graph(5, [(0, 1)])])
    together = iterated(task, start, Streams(4, 3))
    assert bool((together.evaluation.cost <= two_wells(start)).all())
    for place in range(3):
        alone = iterated(task, start[[place]], Streams(4, [place]))
        assert torch.equal(alone.graphs.weight, together.graphs[[place]].weight)


@pytest.mark.parametrize(("helpful", "rounds"), [((), 2), ((0,), 3), ((1,), 3)])
def test_no_restart_sets_out_twice_from_where_it_has_set_out_in_vain(
    helpful: tuple[int, ...], rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds that help find a star where there was an edge; the others bring back what they got."""
    asked: list[bool] = []

    def walked(_: Problem, graphs: DenseGraphs, streams: Streams, afresh: bool) -> DenseGraphs:
        asked.append(afresh)
        return graph(5, STAR) if len(asked) - 1 in helpful else graphs

    monkeypatch.setattr(module, "_walked", walked)
    monkeypatch.setattr(module, "improved", lambda of, graphs, *_: graphs)
    task = problem(lambda graphs: 20 - graphs.num_edges, unsure)
    found = iterated(task, graph(5, [(0, 1)]), Streams(0, 1))
    assert asked == [False, True, False][:rounds]
    assert int(found.graphs.num_edges) == (4 if helpful else 1)


def test_a_callback_ends_it() -> None:
    seen: list[Snapshot] = []

    def stop(snapshot: Snapshot) -> bool:
        seen.append(snapshot)
        return snapshot.iteration == 1

    task = problem(lambda g: g.num_edges, unsure)
    monitor = Monitor((stop,), task, 3)
    IteratedSearch()(task, state(task, graph(3, [(0, 1)])), Streams(0, 1), monitor)
    assert [(s.phase, s.iteration, s.iterations) for s in seen] == [
        ("iterated search", 0, 3), ("iterated search", 1, 3),
    ]  # fmt: skip
    assert monitor.stopped
