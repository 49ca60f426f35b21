"""Searching from real graphs: prototypes and the population that samples come from."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from gnninterpreter.distribution import Streams
from gnninterpreter.errors import SpecError
from gnninterpreter.explanation.sampler import PopulationSampler
from gnninterpreter.search import Monitor, Problem, Shrink, Snapshot, Spread, State
from gnninterpreter.search.edits import FeaturePool
from gnninterpreter.search.problem import REAL_BAR, SAMPLE_BAR, Evaluation
from gnninterpreter.search.shrink import _at_once, _first
from gnninterpreter.typicality import BAR
from tests.search.known import CYCLE, STAR, begun, known_problem, typicality
from tests.tiny import unwatched


def run(phase: Any, problem: Problem, state: State, seed: int = 3) -> State:
    streams = Streams(seed, len(state.reasons))
    found: State = phase(problem, state, streams, unwatched(problem, state.graphs.num_candidates))
    return found


@pytest.mark.parametrize("target", [CYCLE, STAR], ids=["cycle", "star"])
def test_prototypes_are_certain_whole_and_typical(target: int) -> None:
    problem = known_problem(target)
    state = run(Shrink(), problem, begun(problem))
    assert state.evaluation.met.all()
    assert state.evaluation.feasible.all()
    assert (state.evaluation.score >= 0.99).all()
    percentile = typicality(target).bank.percentile(state.graphs)
    assert (percentile >= BAR).all()
    assert torch.equal(state.distribution.mode().weight, state.graphs.weight)


def test_prototypes_are_no_larger_than_the_real_graphs_they_began_at() -> None:
    problem = known_problem()
    begin = typicality().exemplars.begin(Streams(3, 4).fork(0).fork(0), 1, BAR)
    state = run(Shrink(), problem, begun(problem))
    began = problem.evaluate(begin)
    assert (state.evaluation.cost <= began.cost + 1e-6).all()
    assert (state.evaluation.cost < began.cost - 1e-6).any()


def test_a_restart_comes_to_the_same_whatever_their_number() -> None:
    problem = known_problem()
    many = run(Shrink(), problem, begun(problem, 5)).graphs
    for restarts in (1, 3):
        few = run(Shrink(), problem, begun(problem, restarts)).graphs
        assert torch.equal(few.weight, many.weight[:restarts])


def test_a_population_has_different_certain_and_typical_graphs() -> None:
    problem = known_problem()
    state = run(Spread(), problem, run(Shrink(), problem, begun(problem)))
    (population,) = state.population
    assert population is not None
    assert len(population) >= 3
    found = problem.evaluate(population)
    assert (found.score >= problem.aim.enough).all()
    assert found.feasible.all()
    assert (typicality().bank.percentile(population) >= SAMPLE_BAR).all()
    sizes = population.num_nodes.tolist()
    # Cycles are told apart by their size alone.
    assert len(set(sizes)) == len(sizes)


def test_real_graphs_fill_up_a_population_that_walkers_left_small() -> None:
    problem = known_problem()
    before = run(Shrink(), problem, begun(problem, 1))
    state = run(Spread(walkers=1, steps=1, draws=1), problem, before)
    (population,) = state.population
    assert population is not None
    # One walker knows a few sizes of cycles; the others are those of real ones that may be shown.
    real = typicality().exemplars.graphs
    fine = real[problem.good(real, bar=REAL_BAR)]
    assert len(fine) > 3
    assert set(fine.num_nodes.tolist()) <= set(population.num_nodes.tolist())
    assert problem.good(population, bar=REAL_BAR).all()


def test_a_small_population_is_walked_on_from_while_that_leads_to_new_graphs() -> None:
    problem = known_problem()
    found = run(Shrink(), problem, begun(problem)).graphs[:1]
    pool, streams = FeaturePool.of(typicality().exemplars.graphs), Streams(3, 4)
    more = Spread(walkers=4, steps=4)._further(problem, found, pool, streams, typicality().bank)
    sizes = more.num_nodes.tolist()
    assert sizes[0] == int(found.num_nodes[0])
    assert len(set(sizes)) == len(sizes) > 1
    assert problem.good(more).all()


def test_samples_differ_until_the_population_is_used_up() -> None:
    problem = known_problem()
    state = run(Spread(), problem, run(Shrink(), problem, begun(problem)))
    (population,) = state.population
    assert population is not None
    size = len(population)
    weights = (1.0,) * len(state.reasons)
    sampler = PopulationSampler(state.distribution, weights, population)
    drawn = sampler.sample(2 * size, seed=0).weight.flatten(1)
    every = {tuple(row.tolist()) for row in population.weight.flatten(1)}
    for part in (drawn[:size], drawn[size:]):
        assert {tuple(row.tolist()) for row in part} == every
    orders = {tuple(sampler.sample(size, seed=s).num_nodes.tolist()) for s in range(8)}
    assert len(orders) > 1


def test_a_population_leaves_the_restarts_as_they_are() -> None:
    problem = known_problem()
    before = run(Shrink(), problem, begun(problem))
    after = run(Spread(), problem, before)
    assert torch.equal(after.graphs.weight, before.graphs.weight)
    assert after.evaluation is before.evaluation


@pytest.mark.parametrize("phase", [Shrink(), Spread()], ids=lambda phase: str(phase.name))
def test_without_real_graphs_nothing_is_done(phase: Any) -> None:
    problem = known_problem(statistics=False)
    state = begun(problem)
    assert run(phase, problem, state) is state


@pytest.mark.parametrize("nodes", [6, 20])
def test_another_size_limit_than_that_of_the_bank(nodes: int) -> None:
    problem = known_problem(nodes=nodes)
    state = run(Shrink(), problem, begun(problem))
    assert state.graphs.num_candidates == nodes
    assert state.evaluation.feasible.all()
    assert (state.evaluation.nodes <= nodes).all()
    assert (state.evaluation.score >= 0.99).all()
    spread = run(Spread(), problem, state)
    (population,) = spread.population
    if population is not None:
        assert (problem.evaluate(population).nodes <= nodes).all()


@pytest.mark.parametrize("phase", [Shrink(), Spread()], ids=lambda phase: str(phase.name))
def test_a_limit_below_every_real_graph_leaves_nothing_to_begin_at(phase: Any) -> None:
    problem = known_problem(nodes=3)
    state = begun(problem)
    assert run(phase, problem, state) is state


@pytest.mark.parametrize("phase", [Shrink(), Spread()], ids=lambda phase: str(phase.name))
def test_a_stop_is_obeyed_and_snapshots_fit(phase: Any) -> None:
    problem = known_problem()
    state = run(Shrink(), problem, begun(problem))
    seen: list[Snapshot] = []

    def stop(look: Snapshot) -> bool:
        seen.append(look)
        return True

    monitor = Monitor((stop,), problem, state.graphs.num_candidates)
    after = phase(problem, state, Streams(3, 4), monitor)
    assert monitor.stopped
    assert [look.phase for look in seen] == [phase.name]
    assert torch.equal(seen[0].distribution.mode().num_edges, seen[0].edges)
    assert torch.equal(after.graphs.weight, state.graphs.weight)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shrink(steps=0), r"steps must be at least 1 \(got 0\)"),
        (lambda: Shrink(tries=0), r"tries must be at least 1"),
        (lambda: Spread(walkers=0), r"walkers must be at least 1"),
        (lambda: Spread(keep_every=0), r"keep_every must be at least 1"),
    ],
)
def test_settings_are_checked(make: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make()


def test_the_rounds_of_a_few_restarts_side_by_side_come_to_the_same() -> None:
    problem = known_problem(STAR)
    few = Shrink(steps=2, patience=2)  # one restart is met in no round, some in later ones only
    alone = run(few, problem, begun(problem, 8))
    once = run(replace(few, rounds=1), problem, begun(problem, 8))
    counts = [int(found.evaluation.met.sum()) for found in (once, alone)]
    assert 0 < counts[0] < counts[1] < 8
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gnninterpreter.search.shrink._at_once", lambda rows, left, restarts: left)
        beside = run(few, problem, begun(problem, 8))
    assert torch.equal(alone.evaluation.met, beside.evaluation.met)
    assert torch.equal(alone.graphs.weight, beside.graphs.weight)
    assert torch.equal(alone.evaluation.cost, beside.evaluation.cost)


def test_of_several_graphs_the_first_that_is_met_comes_first_then_the_cheapest() -> None:
    met = torch.tensor([False, True, True, False, False, False, False, False, False])
    cost = torch.tensor([1.0, 5.0, 4.0, 3.0, 2.0, 2.0, 7.0, 7.0, 9.0])
    seen = Evaluation(cost, cost, cost, cost, cost, met, met)
    assert _first(seen, 3).tolist() == [1, 4, 6]


def test_rounds_are_made_at_once_where_few_are_left_and_a_gpu_makes_them() -> None:
    rows = torch.arange(5)
    assert _at_once(rows, 4, 20) == 1
    there = SimpleNamespace(is_cuda=True, numel=rows.numel)
    assert _at_once(there, 4, 20) == 4  # type: ignore[arg-type]
    assert _at_once(there, 4, 19) == 1  # type: ignore[arg-type]
