"""`sweep`, `tune` and `compare` on the command line, on plain processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gnninterpreter as gi
from tests.sweep.conftest import write_file
from tests.sweep.lab import graphs

from .lab import Degrees

HERE = ("--engine", "processes", "--jobs", 1)


def test_a_sweep_goes_on_and_tells_what_failed(cli, tmp_path: Path) -> None:
    file = write_file(tmp_path, seeds=1)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("models = [", 'models = ["gone.json", '), encoding="utf-8")
    code, out, err = cli("sweep", file, "--list")
    assert (code, out.split(";")[0]) == (0, "2 jobs: 0 done, 0 failed, 2 left")
    assert err.startswith("1 of 2 models cannot be read, and 1 of 2 jobs will fail: ")
    assert "gone.json (cannot read the checkpoint" in err
    assert len(err.splitlines()) == 1
    code, out, err = cli("sweep", file, *HERE)
    assert code == 1
    assert "2 jobs: 1 done, 1 failed, 0 left" in out
    assert "gone.json / class 1 / tiny / seed 0: cannot read the checkpoint" in err
    code, out, err = cli("sweep", file, *HERE)
    assert code == 1
    assert "1 failed before; --again tries them once more" in err
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    assert cli("sweep", file, "--list")[1].startswith("1 job: 1 done, 0 failed, 0 left; results: ")
    code, out, err = cli("sweep", file, *HERE, "--json", "--quiet")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["total"], found["done"], found["new"], found["left"]) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("more", "arguments", "said"),
    [
        ("sedes = 1", (), "unknown key 'sedes'"),
        ("gpus = 1", (*HERE,), "asks for a GPU for each job and this machine has 0"),
        ("", ("--address", "127.0.0.1:1"), "cannot be reached"),
        ("", ("--engine", "processes", "--jobs", 0), "jobs must be at least 1"),
    ],
)
def test_what_a_sweep_refuses_leaves_no_result(
    cli, tmp_path: Path, more: str, arguments: tuple[object, ...], said: str
) -> None:
    file = write_file(tmp_path, seeds=1)
    file.write_text(f"{more}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    code, out, err = cli("sweep", file, *arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: ")
    assert said in err
    assert not list(tmp_path.glob("sweep/*.parquet"))


def test_a_sweep_of_which_nothing_can_be_read_is_refused(cli, tmp_path: Path) -> None:
    file = write_file(tmp_path, seeds=2, checkpoints=3)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("lab:graphs", "lab:grahps"), encoding="utf-8")
    code, out, err = cli("sweep", file, *HERE)
    assert (code, out) == (2, "")
    assert err.startswith("error: 3 of 3 models cannot be read, and 6 of 6 jobs will fail: ")
    assert err.count("has no 'grahps'") == 1  # one reason, told once
    assert err.strip().endswith("; and 2 more")
    assert not (tmp_path / "sweep").exists()


def test_tuning_writes_a_recipe_that_explain_takes(cli, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    file = write_file(tmp_path, seeds=1)
    head, _, table = file.read_text(encoding="utf-8").partition("[[recipes]]")
    file.write_text(f"{head}\n[space]\nstop_score = [0.7, 0.8]\n[base]\n{table}", encoding="utf-8")
    code, out, err = cli("tune", file, "--trials", 1, *HERE)
    assert code == 0, err
    assert [line.split(":")[0] for line in out.splitlines()] == ["base", "best", "recipe"]
    recipe = tmp_path / "sweep" / "recipe.json"
    code, out, err = cli("tune", file, "--trials", 1, *HERE, "--json")
    assert json.loads(out)["recipe"] == str(recipe)
    code, out, err = cli(
        "explain", "lab:model", "--data", "lab:graphs", "-t", 1, "--restarts", 1, "--recipe",
        recipe, "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["recipes"][0]["stop_score"] in (0.99, 0.7, 0.8)


def test_two_runs_side_by_side(cli, tmp_path: Path) -> None:
    recipe = gi.Recipe.certain().without("gradient", "local search", "iterated search")
    run = gi.explain(Degrees(), graphs, recipe=recipe, restarts=1, targets=[1], progress=False)
    run.save(tmp_path / "run")
    page = tmp_path / "page.html"
    code, out, _ = cli("compare", tmp_path / "run", tmp_path / "run", "--out", page)
    assert code == 0
    assert "The same prototype" in out
    assert "<svg" in page.read_text(encoding="utf-8")
    code, out, _ = cli("compare", tmp_path / "run", tmp_path / "run", "--json")
    assert json.loads(out)["classes"][0]["same_prototype"] is True
    named = ("--model", "lab:model", "--data", "tests.sweep.lab:graphs")
    both = (tmp_path / "run", tmp_path / "run")
    code, out, _ = cli("compare", *both, *named, *named[:2], "--fidelity", "--json")
    found = json.loads(out)
    assert (found["same_answers"], found["classes"][0]["sides"][0]["agreed"]) == (1.0, 1.0)
    assert None not in found["fidelity"]
    for wrong, said in (
        (named, "--model is for run folders, one for each (got 1 for 2)"),
        (("--model", "lab:never_dense") * 2, "this is not the model that the run explains"),
        (("--fidelity",), "give models and dataset (--model for each run, and --data)"),
    ):
        code, out, err = cli("compare", *both, *wrong)
        assert (code, out, said in err) == (2, "", True), err
    code, out, err = cli("compare", tmp_path / "run", "nothing")
    assert (code, out) == (2, "")
    assert "MODEL 'nothing' is not a bundled model" in err
    script = tmp_path / "script.py"
    script.write_text("mine")
    code, _, err = cli("compare", "motif", "nothing", "--out", script)
    assert (code, script.read_text()) == (2, "mine")
    assert "--out must be a file that ends in .html" in err  # before anything else is looked at
    code, _, err = cli("compare", "motif", "shape")
    assert (code, "take different graphs" in err) == (2, True)


def test_tuning_tells_what_cannot_be_read(cli, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    file = write_file(tmp_path, seeds=1)
    text = file.read_text(encoding="utf-8").partition("[[recipes]]")[0]
    file.write_text(
        text.replace("lab:graphs", "lab:grahps") + "[space]\niterations = [5]", encoding="utf-8"
    )
    code, out, err = cli("tune", file, *HERE)
    assert (code, out) == (2, "")
    assert err.startswith("error: 1 of 1 models cannot be read")
    assert not (tmp_path / "sweep").exists()
