"""Shortcuts: certain, and unlike anything real."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from gnninterpreter.distribution import Streams
from gnninterpreter.errors import SpecError
from gnninterpreter.search import FindShortcuts, Monitor, Problem, Shrink, State
from gnninterpreter.search.repeating import Aside
from gnninterpreter.search.shortcuts import UNTYPICAL
from tests.search.known import CYCLE, begun, known_problem, typicality
from tests.tiny import unwatched


def shortcuts(problem: Problem, state: State) -> State:
    streams = Streams(3, len(state.reasons))
    monitor = unwatched(problem, state.graphs.num_candidates)
    return FindShortcuts()(problem, state, streams, monitor)


def test_shortcuts_are_certain_whole_and_untypical() -> None:
    problem = known_problem(CYCLE)
    before = begun(problem)
    after = shortcuts(problem, before)
    (found,) = after.shortcuts
    assert found is not None
    assert 1 <= len(found) <= 4
    assert found.num_candidates == before.graphs.num_candidates
    seen = problem.evaluate(found)
    assert (seen.score >= 0.99).all()
    assert seen.feasible.all()
    assert not seen.met.any()
    assert (typicality(CYCLE).bank.percentile(found) < UNTYPICAL).all()
    assert torch.equal(after.graphs.weight, before.graphs.weight)


def test_without_real_graphs_nothing_says_what_a_shortcut_is() -> None:
    problem = known_problem(statistics=False)
    state = begun(problem)
    assert shortcuts(problem, state) is state


def test_a_stop_comes_before_the_search() -> None:
    problem = known_problem()
    state = begun(problem)
    monitor = Monitor((lambda look: True,), problem, state.graphs.num_candidates)
    assert FindShortcuts()(problem, state, Streams(3, 4), monitor) is state
    assert monitor.stopped


def test_fewer_restarts_than_searches() -> None:
    problem = known_problem()
    (found,) = shortcuts(problem, begun(problem, 1)).shortcuts
    assert found is None or len(found) == 1


def test_a_gpu_looks_for_them_while_it_is_busy_and_finds_the_same() -> None:
    problem, streams = known_problem(CYCLE), Streams(3, 4)
    state = begun(problem)
    phase = FindShortcuts()
    (after,) = shortcuts(problem, state).shortcuts
    aside = Aside(phase.looking(problem, state, streams))
    shrunk = Shrink(steps=3)(
        replace(problem, aside=aside), state, Streams(4, 4), unwatched(problem, 12)
    )
    (meanwhile,) = aside.result()
    assert after is not None
    assert meanwhile is not None
    assert torch.equal(meanwhile.weight, after.weight)
    alone = Shrink(steps=3)(problem, state, Streams(4, 4), unwatched(problem, 12))
    assert torch.equal(shrunk.graphs.weight, alone.graphs.weight)


def test_settings_are_checked() -> None:
    with pytest.raises(SpecError, match=r"walk_nodes must be at least 3 \(got 2\)"):
        FindShortcuts(walk_nodes=2)
