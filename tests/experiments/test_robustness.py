"""Robustness runs: done once, kept, gone on with, summed up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gnninterpreter.errors import CheckpointError
from gnninterpreter.experiments import robustness as module
from gnninterpreter.experiments.robustness import Job, Run, read_runs, robustness, summarise

RUN = Run(
    job=Job("shape", "wheel", 0),
    mean=0.995,
    std=0.01,
    samples=1000,
    mode_probability=0.999,
    nodes=7,
    edges=6,
    max_nodes=24,
    max_edges=70.0,
    connected=True,
    similarity=0.9,
    percentile=20.0,
    oracle="star",
    undecided=0.5,
    good_restarts=8,
    iterations=120,
    seconds=2.0,
    reason="converged",
)


def _counting(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    done: list[Job] = []

    def do(job: Job) -> Run:
        done.append(job)
        return replace(RUN, job=job)

    monkeypatch.setattr(module, "do", do)
    return done


def test_a_file_of_runs_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = _counting(monkeypatch)
    out = tmp_path / "runs.json"
    jobs = [Job("shape", "wheel", seed) for seed in range(3)]
    robustness(jobs[:2], out)
    told: list[Run] = []
    runs = robustness(jobs, out, tell=told.append)
    assert done == jobs
    assert [run.job for run in told] == jobs[2:]
    assert {run.job for run in runs} == set(jobs)
    assert read_runs(out) == sorted(runs, key=lambda run: run.job)


def test_an_interrupted_benchmark_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def do(job: Job) -> Run:
        if job.seed == 2:
            raise KeyboardInterrupt
        return replace(RUN, job=job)

    monkeypatch.setattr(module, "do", do)
    out = tmp_path / "runs.json"
    with pytest.raises(KeyboardInterrupt):
        robustness([Job("shape", "wheel", seed) for seed in range(4)], out)
    assert [run.job.seed for run in read_runs(out)] == [0, 1]
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    "content", ["", "[]", '{"kind": "other", "schema": 1}', '{"kind": "robustness", "schema": 99}']
)
def test_a_foreign_file_is_refused(tmp_path: Path, content: str) -> None:
    out = tmp_path / "runs.json"
    out.write_text(content)
    with pytest.raises(CheckpointError, match=r"not a file of robustness runs.*another file"):
        robustness([RUN.job], out)
    assert out.read_text() == content


def test_a_run_is_lost_by_probability_or_by_its_graph() -> None:
    assert not RUN.lost
    assert replace(RUN, mean=0.98).lost
    assert replace(RUN, connected=False).lost


def test_runs_are_summed_up_by_class() -> None:
    runs = [
        replace(RUN, mean=0.99, nodes=5, oracle="wheel"),
        replace(RUN, mean=0.97, nodes=9, seconds=4.0),
        replace(RUN, job=Job("shape", "grid", 0), oracle=None, percentile=None),
    ]
    wheel, grid = summarise(runs)
    assert (wheel.runs, wheel.lost, wheel.lowest, wheel.mean) == (2, 1, 0.97, pytest.approx(0.98))
    assert (wheel.nodes, wheel.seconds, wheel.oracle_agrees) == (7, 3.0, 0.5)
    assert (grid.percentile, grid.oracle_agrees) == (None, None)


def test_where_a_model_allows_no_more_runs_are_held_against_a_larger_search() -> None:
    runs = [
        replace(RUN, mean=0.976),
        replace(RUN, mean=0.974),
        replace(RUN, mean=0.979, connected=False),
    ]
    searched = [replace(RUN, job=Job("shape", "wheel", seed), mean=0.98) for seed in range(20)]
    (found,) = summarise(runs, searched)
    assert (found.lost, found.best, found.near) == (3, 0.98, 1)
    # The best of all is the best, whoever found it.
    (found,) = summarise([*runs, replace(RUN, mean=0.9805)], searched)
    assert (found.lost, found.best, found.near) == (4, 0.9805, 2)
    # A search that is not so much larger shows nothing, and neither does one that found more.
    assert summarise(runs, searched[1:])[0].best is None
    (found,) = summarise(runs, [*searched, replace(RUN, mean=0.991)])
    assert (found.lost, found.best, found.near) == (3, None, 0)


def test_the_kept_results_say_what_the_documentation_says() -> None:
    folder = Path(__file__).parents[2] / "benchmarks" / "results" / "robustness"
    runs = read_runs(folder / "bundled.json")
    assert len(runs) == 380
    assert not any(run.lost for run in runs)
    assert {run.job.seed for run in runs} == set(range(20))
    assert all(run.job.restarts == 8 and run.samples == 1000 for run in runs)
    zoo = read_runs(folder / "zoo.json")
    assert len({run.job.model for run in zoo}) >= 12
    # One model is never sure of anything: there a run has to come near the best of a larger search.
    summaries = summarise(zoo, read_runs(folder / "unsure.json"))
    assert {s.model for s in summaries if s.lost} == {"zoo-cheb-unsure"}
    assert all(s.lost == s.near for s in summaries)
    assert json.loads((folder / "zoo.json").read_text())["kind"] == "robustness"
