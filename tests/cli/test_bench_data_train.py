"""The commands that measure, count and train."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gnninterpreter.cli.app import app
from gnninterpreter.experiments.robustness import BENCH
from tests.experiments.robustness.test_robustness import answering

runner = CliRunner()


def test_data_stats_counts_a_data_set(tmp_path: Path) -> None:
    result = runner.invoke(
        app, ["data", "stats", "is_acyclic", "--root", str(tmp_path), "--oracle", "50", "--json"]
    )
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    assert row["graphs"] == 2000
    assert row["classes"] == {"cyclic": 1000, "acyclic": 1000}
    assert row["oracle_agreement"] == 1.0
    shown = runner.invoke(
        app, ["data", "stats", "is_acyclic", "--root", str(tmp_path), "--oracle", "0"]
    )
    assert "acyclic: 1000" in shown.stdout


def test_an_unknown_data_set_is_one_sentence_and_exit_code_2() -> None:
    result = runner.invoke(app, ["data", "stats", "nothing"])
    assert result.exit_code == 2
    assert "no data set 'nothing'" in result.stderr
    assert "Traceback" not in result.output


def test_bench_robustness_prints_a_table_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch)
    out, plot = tmp_path / "runs.json", tmp_path / "plot.svg"
    result = runner.invoke(
        app,
        ["bench", "robustness", "--models=mutag", "--seeds=2", f"--out={out}", f"--plot={plot}"],
    )
    assert result.exit_code == 0, result.output
    assert "4 of 4 runs reached 0.99" in result.stdout
    assert plot.read_text().startswith("<?xml")
    assert len(BENCH.read(out)) == 4


def test_bench_robustness_asks_of_the_papers_recipe_what_the_paper_has_weights_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch)
    out = tmp_path / "runs.json"
    result = runner.invoke(
        app,
        ["bench", "robustness", "--models=shape", "--seeds=1", "--recipe=paper", f"--out={out}"],
    )
    assert result.exit_code == 0, result.output
    runs = BENCH.read(out)
    assert {run.target for run in runs} == {"lollipop", "wheel", "grid", "star"}
    assert {run.recipe for run in runs} == {"paper"}


def test_bench_robustness_shows_what_a_model_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, mean=0.98)
    larger, out = tmp_path / "larger" / "runs.json", tmp_path / "runs.json"
    common = ["bench", "robustness", "--models=mutag"]
    assert runner.invoke(app, [*common, "--seeds=20", f"--out={larger}"]).exit_code == 0
    answering(monkeypatch, mean=0.977)
    result = runner.invoke(app, [*common, "--seeds=2", f"--out={out}", f"--larger={larger}"])
    assert result.exit_code == 0, result.output
    assert "0 of 4 runs reached 0.99" in result.stdout
    assert "4 more" in result.stdout
    assert "0.9800" in result.stdout
    result = runner.invoke(app, [*common, f"--out={out}", f"--larger={tmp_path / 'none.json'}"])
    assert result.exit_code == 2
    assert "none.json is not a file of robustness rows (No such file or directory)" in result.stderr


@pytest.mark.parametrize("command", ["robustness", "realism"])
def test_no_seeds_are_refused(command: str, tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    result = runner.invoke(app, ["bench", command, "--seeds=0", f"--out={out}"])
    assert result.exit_code == 2
    assert "--seeds" in result.stderr
    assert not out.exists()


def test_bench_robustness_refuses_a_foreign_file(tmp_path: Path) -> None:
    out = tmp_path / "runs.json"
    out.write_text("something else")
    result = runner.invoke(app, ["bench", "robustness", "--models", "mutag", "--out", str(out)])
    assert result.exit_code == 2
    assert out.read_text() == "something else"


def test_train_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    result = runner.invoke(app, ["train", "nothing", "--out", str(tmp_path / "models")])
    assert result.exit_code == 2
    assert "nothing" in result.stderr
    assert not (tmp_path / "models").exists()
    none = runner.invoke(app, ["train", "all", "--statistics-only", "--out", str(tmp_path)])
    assert none.exit_code == 2
    assert "holds no checkpoint" in none.stderr


def test_train_writes_a_checkpoint_that_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from gnninterpreter import models
    from gnninterpreter.training import recipes

    whole = recipes.training_recipe("is_acyclic")
    short = replace(whole, config=replace(whole.config, max_epochs=2, warmup=1, patience=5))
    monkeypatch.setattr(recipes, "training_recipe", lambda name: short)
    arguments = ["train", "is_acyclic", "--out", str(tmp_path), "--root", str(tmp_path / "data")]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "test: accuracy" in result.stdout
    bundle = models.load_bundle(tmp_path / "is_acyclic.json")
    assert bundle.spec.class_names == ("cyclic", "acyclic")
    # 2,000 graphs, of which 1,600 are trained on.
    assert bundle.statistics.count.tolist() == [800.0, 800.0]
    for name in ("is_acyclic", "all"):
        again = ["train", name, "--statistics-only", *arguments[2:]]
        shown = runner.invoke(app, again)
        assert shown.exit_code == 0, shown.output
        assert "statistics: " in shown.stdout
    stored = models.load_bundle(tmp_path / "is_acyclic.json").statistics
    assert stored.mean_nodes.tolist() == bundle.statistics.mean_nodes.tolist()
    refused = runner.invoke(app, ["train", "nothing", "--statistics-only", *arguments[2:]])
    assert refused.exit_code == 2
