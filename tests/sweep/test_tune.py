"""Tuning: what is refused, what is better, and a killed run that goes on."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnninterpreter.errors import OutputError, SpecError
from gnninterpreter.sweep import load_recipe, read_results, read_sweep, save_recipe
from gnninterpreter.sweep import tune as module
from gnninterpreter.sweep.tune import nested, read_tuning, score, tune

pytest.importorskip("optuna", reason="tuning needs the extra 'tune'")

SPACE = """
base = "certain"
trials = 3
together = 2
[space]
stop_score = [0.8, 0.9]
[space.size]
discrete = { low = 0.1, high = 1.0, log = true }
"""


def write(file: Path, space: str = SPACE) -> Path:
    before = file.read_text(encoding="utf-8").split("[[recipes]]")[0]
    file.write_text(before.replace("seeds = 2", "seeds = 1") + space, encoding="utf-8")
    return file


def answered(monkeypatch: pytest.MonkeyPatch, **figures: Any) -> list[str]:
    """Put rows that take no time in place of jobs, and list the recipes that were asked for."""
    asked: list[str] = []

    def run_jobs(function, jobs, workers, retries, keep):
        for job in jobs:
            recipe = load_size(job.recipe)
            asked.append(job.recipe)
            row = {"certain": 1.0, "typicality": 10.0, "cpu_seconds": recipe, **figures}
            yield [module_run.Outcome(job, {**module_run.describe(job), **row})]

    from gnninterpreter.sweep import run as module_run

    monkeypatch.setattr(module_run, "run_jobs", run_jobs)
    return asked


def load_size(text: str) -> float:
    """The weight of size in a recipe as JSON text."""
    found = re.search(r'"Size"\}, "soft": [^,]*, "discrete": ([0-9.]+)', text)
    return float(found.group(1)) if found else 1.0


def test_the_order_is_certainty_typicality_time() -> None:
    assert score(0.5, 100.0, 0.0) < score(0.51, 0.0, 99.0)
    assert score(1.0, 30.0, 0.0) < score(1.0, 31.0, 99.0)
    assert score(1.0, None, 9.0) < score(1.0, None, 8.0)
    assert nested({"a": 1, "local search.width": 2}) == {"a": 1, "local search": {"width": 2}}


def test_it_goes_on_where_it_was_and_writes_what_explain_takes(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answered(monkeypatch)
    folder = file.parent / "tuned"
    spec = read_tuning(write(file))
    stop = RuntimeError("killed")

    def killed(trial: module.Trial) -> None:
        raise stop

    with pytest.raises(RuntimeError, match="killed"):
        tune(spec, folder, tell=killed)
    assert len(asked) == 3  # the base, and two together
    told: list[module.Trial] = []
    recipe, best, base = tune(spec, folder, tell=told.append)
    # The first was told; the second was open and is drawn again, from the store; one is new.
    assert len(told) == 2
    assert len(asked) == 4 == read_results(folder / module.ROWS).num_rows
    assert best.value == max(best.value, base.value, *(trial.value for trial in told))
    path = save_recipe(recipe, folder / "recipe.json")
    assert load_recipe(str(path)) == recipe
    assert tune(spec, folder, tell=told.append)[0] == recipe
    assert len(asked) == 4


def test_two_at_a_time_are_one_too_many(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answered(monkeypatch)
    spec, folder = read_tuning(write(file)), file.parent / "tuned"

    def second(trial: module.Trial) -> None:
        with pytest.raises(OutputError, match="another run is writing to"):
            tune(spec, folder)

    tune(spec, folder, tell=second)
    assert len(asked) == 4


def test_a_base_that_fails_ends_it_and_is_tried_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, folder = read_tuning(write(file)), file.parent / "tuned"
    nowhere = replace(spec, sweep=replace(spec.sweep, targets=("nope",)))
    with pytest.raises(SpecError, match="base gave no result; the last error was: there is no"):
        tune(nowhere, folder)
    assert read_results(folder / module.ROWS).num_rows == 1
    asked = answered(monkeypatch)
    tune(nowhere, folder)  # what was wrong was mended meanwhile
    assert len(asked) == 4


def test_where_nothing_is_better_the_base_comes_back(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch, cpu_seconds=1.0)
    spec = read_tuning(write(file))
    recipe, best, base = tune(spec, file.parent / "tuned")
    assert recipe == spec.base
    assert best == base


def test_whole_numbers_have_ranges_too(file: Path) -> None:
    spec = read_tuning(write(file, "[space]\niterations = { low = 20, high = 400, log = true }"))
    assert spec.space == {"iterations": {"low": 20, "high": 400, "log": True}}


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_files_of_the_documentation_are_read(number: int, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    for name in ("a.safetensors", "one/best.pt"):
        (tmp_path / "runs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "runs" / name).touch()
    file = tmp_path / "file.toml"
    file.write_text(blocks[number].replace('"tuned/recipe.json"', '"certain"'), encoding="utf-8")
    asked = read_tuning(file).sweep if "[space" in blocks[number] else read_sweep(file)
    assert asked.models


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ("trials = 3", "must name at least one setting"),
        ("[space]\nspead = [1]", "'spead' is no setting of a recipe"),
        ("[space.size]\nhard = [1]", "size.hard is neither"),
        ("[space]\nstop_score = 0.5", "must be a list of choices"),
        ("[space]\nstop_score = { low = 0.9, high = 0.5 }", "a low below its high"),
        ("[space]\nstop_score = { low = 0.5, high = 3.0 }", "stop_score"),
        ("[space]\nstop_score = { low = 0.5, high = 0.9, step = 1 }", "unknown key 'step'"),
        ("[space.size]\ndiscrete = { low = 0.0, high = 1.0, log = true }", "a low above 0 for log"),
        ('base = "paper"\n[space]\niterations = [1]', "'paper' has settings of its own"),
        ("kind = 'audit'\n[space]\niterations = [1]", "unknown key 'kind'"),
        ("space = 3", "must name at least one setting"),
        ('seed = "x"\n[space]\niterations = [1]', r"seed must be a whole number \(got 'x'\)"),
        ("[space]\niterations = { low = 1, high = 5, log = 1 }", "log must be true or false"),
        ("trials = 0\n[space]\niterations = [1]", r"trials must .* \(got 0\)"),
    ],
)
def test_what_does_not_fit_is_refused(file: Path, space: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        read_tuning(write(file, space))
