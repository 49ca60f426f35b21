"""What callbacks are told while a phase works on some of the restarts."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from gnninterpreter.batches import widened
from gnninterpreter.distribution import Streams, from_graphs
from gnninterpreter.search import Ascent, LocalSearch, Monitor, Problem, Snapshot, State
from gnninterpreter.search.run import _run
from gnninterpreter.search.state import History
from tests.search.known import begun, known_problem, typicality


def partly_met(problem: Problem) -> State:
    """Four restarts, of which the second and the last have a real graph already."""
    state = begun(problem)
    sizes = typicality().exemplars.graphs.num_nodes
    typical = typicality().exemplars.percentile.argmax().unsqueeze(0).expand(2)
    assert int(sizes[typical[0]]) <= state.graphs.num_candidates
    real = widened(typicality().exemplars.graphs[typical], state.graphs.num_candidates)
    graphs = state.graphs.merged(torch.tensor([1, 3]), real)
    after = State.begin(from_graphs(graphs), problem)
    assert after.evaluation.met.tolist() == [False, True, False, True]
    return after


@pytest.mark.parametrize("phase", [Ascent(iterations=10, check_every=5), LocalSearch(steps=4)])
def test_snapshots_are_about_all_restarts_and_the_same_moment(phase: Ascent | LocalSearch) -> None:
    problem = known_problem()
    state = partly_met(problem)
    seen: list[Snapshot] = []
    monitor = Monitor((seen.append,), problem, state.graphs.num_candidates)
    after = _run(phase, problem, state, Streams(0, 4), monitor)
    assert seen
    for look in seen:
        modes = look.distribution.mode()
        assert look.score.shape == look.edges.shape == (4,)
        assert torch.equal(look.edges, modes.num_edges)
        assert torch.allclose(look.score, problem.evaluate(modes).score, atol=1e-6)
        assert torch.equal(modes.weight[[1, 3]], state.graphs.weight[[1, 3]])
    for row in (1, 3):
        assert torch.equal(after.graphs.weight[row], state.graphs.weight[row])
        assert after.iterations[row] == 0
    assert len(after.reasons) == len(after.iterations) == 4


def test_restarts_that_were_spared_have_seen_nothing() -> None:
    problem = known_problem()
    state = partly_met(problem)
    monitor = Monitor((), problem, state.graphs.num_candidates)
    after = _run(Ascent(iterations=10, check_every=5), problem, state, Streams(0, 4), monitor)
    assert after.history.iteration == [5, 10]
    for seen in (*after.history.probability, *after.history.terms[0].values()):
        assert torch.isnan(seen).tolist() == [False, True, False, True]
    # A later phase that has no history of its own leaves that of all restarts as it is.
    later = _run(LocalSearch(steps=2), problem, after, Streams(0, 4), monitor)
    for one, other in zip(later.history.probability, after.history.probability, strict=True):
        assert torch.equal(one.nan_to_num(-1.0), other.nan_to_num(-1.0))


def test_where_no_real_graphs_are_known_no_restart_is_spared() -> None:
    known = known_problem()
    state = partly_met(known)
    profile = known.aim.profile
    assert profile is not None
    problem = replace(known, aim=replace(known.aim, profile=replace(profile, typicality=None)))
    monitor = Monitor((), problem, state.graphs.num_candidates)
    phase = Ascent(iterations=4, check_every=2)
    assert min(_run(phase, problem, state, Streams(0, 4), monitor).iterations) >= 2


def test_a_history_of_some_restarts_is_put_back_in_its_place() -> None:
    def seen(values: list[float]) -> History:
        row = torch.tensor(values)
        return History([5], [row], [row + 1], [row + 2], [{"size": row + 3}])

    whole = seen([0.0, 1.0, 2.0])
    rows = torch.tensor([0, 2])
    some = whole.select(rows)
    assert some.probability[0].tolist() == [0.0, 2.0]
    assert some.terms[0]["size"].tolist() == [3.0, 5.0]
    back = whole.merged(rows, some, 3)
    assert back.expected_edges[0].tolist() == [1.0, 2.0, 3.0]
    fresh = History().merged(rows, some, 3)
    assert fresh.similarity[0][[0, 2]].tolist() == [2.0, 4.0]
    assert math.isnan(float(fresh.similarity[0][1]))


def test_what_nobody_asks_for_is_not_computed() -> None:
    problem = known_problem()
    state = begun(problem)
    asked: list[int] = []
    watched = replace(problem)
    watched.__dict__["evaluate"] = lambda graphs: asked.append(1) or problem.evaluate(graphs)
    seen: list[Snapshot] = []
    monitor = Monitor((seen.append,), watched, state.graphs.num_candidates)
    weight = state.graphs.weight.clone()
    monitor.graphs("mine", 0, 1, state.graphs)
    assert not asked
    # Whoever reads it later sees what was there then.
    state.graphs.weight.zero_()
    assert torch.equal(seen[0].distribution.mode().weight, weight)
    assert torch.equal(seen[0].score, seen[0].score)
    assert asked == [1]
