"""Robustness runs: done once, kept, gone on with, summed up."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from gnninterpreter.experiments.robustness import BENCH, Run, RunConfig, configs_of
from gnninterpreter.experiments.robustness import compute as module
from gnninterpreter.experiments.robustness.summary import summarize

RUN = Run(
    model="shape",
    target="wheel",
    seed=0,
    mean=0.995,
    std=0.01,
    samples=1000,
    mode_probability=0.999,
    nodes=7,
    edges=6,
    max_nodes=24,
    max_edges=70.0,
    feasible=True,
    similarity=0.9,
    percentile=20.0,
    oracle="star",
    entropy=0.5,
    good_restarts=8,
    iterations=120,
    seconds=2.0,
    reason="converged",
)
CONFIG = RunConfig("shape", "wheel", 0)


def answering(monkeypatch: pytest.MonkeyPatch, **values: object) -> list[RunConfig]:
    """Put a run that takes no time in place of explaining, and list what was asked."""
    asked: list[RunConfig] = []

    def explain_once(**arguments: object) -> dict[str, object]:
        config = RunConfig(**arguments)
        asked.append(config)
        return {"row": asdict(replace(RUN, **arguments, **values))}

    monkeypatch.setattr(module, "explain_once", explain_once)
    return asked


def test_every_class_of_every_model_from_every_seed() -> None:
    found = configs_of("mutag,zoo-gin-sum", 2, recipe="auto")
    assert [(c.model, c.target, c.seed) for c in found] == [
        (model, target, seed)
        for model, targets in (
            ("mutag", ("nonmutagen", "mutagen")),
            ("zoo-gin-sum", ("house", "cycle")),
        )
        for target in targets
        for seed in (0, 1)
    ]
    assert len(configs_of("bundled", 20)) == 380
    # The paper has no weights for "others".
    assert {c.target for c in configs_of("shape", 1, recipe="paper")} == {
        "lollipop", "wheel", "grid", "star",
    }  # fmt: skip


def test_a_run_is_missed_by_probability_or_by_its_graph() -> None:
    assert not RUN.missed
    assert replace(RUN, mean=0.98).missed
    assert replace(RUN, feasible=False).missed


def test_runs_are_summed_up_by_class() -> None:
    runs = [
        replace(RUN, mean=0.99, nodes=5, oracle="wheel"),
        replace(RUN, mean=0.97, nodes=9, seconds=4.0),
        replace(RUN, target="grid", oracle=None, percentile=None),
    ]
    wheel, grid = summarize(runs).itertuples()
    assert (wheel.target, grid.target) == ("wheel", "grid")
    assert (wheel.runs, wheel.missed, wheel.lowest, wheel.mean) == (
        2, 1, 0.97, pytest.approx(0.98),
    )  # fmt: skip
    assert (wheel.nodes, wheel.seconds, wheel.oracle_agrees) == (7, 3.0, 0.5)
    assert math.isnan(grid.percentile)
    assert math.isnan(grid.oracle_agrees)


def test_where_a_model_allows_no_more_runs_are_held_against_a_larger_search() -> None:
    runs = [
        replace(RUN, mean=0.976),
        replace(RUN, mean=0.974),
        replace(RUN, mean=0.979, feasible=False),
    ]
    searched = [replace(RUN, seed=s, mean=0.98) for s in range(20)]
    (found,) = summarize(runs, searched).itertuples()
    assert (found.missed, found.best, found.near) == (3, 0.98, 1)
    # The best of all is the best, whoever found it.
    (found,) = summarize([*runs, replace(RUN, mean=0.9805)], searched).itertuples()
    assert (found.missed, found.best, found.near) == (4, 0.9805, 2)
    # A search that is not so much larger shows nothing, and neither does one that found more.
    assert summarize(runs, searched[1:]).best.isna().all()
    (found,) = summarize(runs, [*searched, replace(RUN, mean=0.991)]).itertuples()
    assert (found.missed, found.near) == (3, 0)
    assert math.isnan(found.best)


def test_the_kept_results_say_what_the_documentation_says() -> None:
    folder = Path(__file__).parents[3] / "benchmarks" / "results" / "robustness"
    runs = BENCH.read(folder / "bundled.json")
    assert len(runs) == 380
    assert not any(run.missed for run in runs)
    assert {run.seed for run in runs} == set(range(20))
    assert all(run.restarts == 8 and run.samples == 1000 for run in runs)
    zoo = BENCH.read(folder / "zoo.json")
    assert len({run.model for run in zoo}) >= 12
    # One model is never sure of anything: there a run has to come near the best of a larger search.
    found = summarize(zoo, BENCH.read(folder / "unsure.json"))
    assert set(found.model[found.missed > 0]) == {"zoo-cheb-unsure"}
    assert (found.missed == found.near).all()
