"""Realism rows: measured once, kept, summed up; and what each method is asked."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from typer.testing import CliRunner

from gnninterpreter.cli.app import app
from gnninterpreter.errors import CheckpointError, SpecError
from gnninterpreter.experiments.__main__ import main
from gnninterpreter.experiments.realism import (
    BENCH,
    RealismConfig,
    RealismRow,
    configs_of,
    graphs_file,
    realism,
)
from gnninterpreter.experiments.realism import compute as module
from gnninterpreter.experiments.realism.discrepancy import (
    discrepancies,
    discrepancy_file,
    parts,
    read_discrepancies,
)
from gnninterpreter.experiments.realism.methods import Answer
from gnninterpreter.experiments.realism.summary import chart, summarize, unmet
from gnninterpreter.experiments.subjects import subject

ROW = RealismRow(
    model="shape",
    target="wheel",
    seed=0,
    method="ours",
    restarts=8,
    rule_best=True,
    rule_core=None,
    rule_modes=0.5,
    rule_samples=0.9,
    place_best=0.4,
    place_samples=0.86,
    compared_with="whole graphs",
    place_best_whole=0.4,
    place_samples_whole=0.86,
    certain_samples=1.0,
    good_samples=0.86,
    distinct50=48,
    mean_probability=0.995,
    certain_bar=0.99,
    feasible=True,
    nodes=7,
    edges=12,
    real_median_nodes=18.0,
    copy=False,
    copy_samples=0.1,
    valid=None,
    valid_samples=None,
    validation_score=0.93,
    seconds=2.0,
    verdict="trustworthy",
)


def answering(monkeypatch: pytest.MonkeyPatch, **values: object) -> list[RealismConfig]:
    """Put a row that takes no time in place of measuring, and list what was asked."""
    asked: list[RealismConfig] = []

    def measure_once(**arguments: object) -> dict[str, object]:
        asked.append(RealismConfig(**arguments))
        row = replace(ROW, **arguments, **values)
        return {"row": asdict(row), "structures": [[2, [0, 1]]] * 256}

    monkeypatch.setattr(module, "measure_once", measure_once)
    monkeypatch.setattr(module, "subject", lambda name: SimpleNamespace(graphs=[]))
    return asked


def test_rows_that_are_stored_are_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(monkeypatch)
    out = tmp_path / "rows.json"
    configs = [RealismConfig("shape", "wheel", seed) for seed in range(3)]
    realism(configs[:2], out)
    told: list[RealismRow] = []
    rows = realism(configs, out, tell=told.append)
    assert asked == configs
    assert [row.seed for row in told] == [2]
    assert BENCH.read(out) == rows == [replace(ROW, seed=seed) for seed in range(3)]
    assert len(json.loads(graphs_file(out).read_text())["drawn"]) == 3


def test_what_is_asked_of_each_method() -> None:
    assert len(configs_of("bundled", 20)) == 380
    assert {c.target for c in configs_of("shape", 1, methods="paper")} == {
        "lollipop",
        "wheel",
        "grid",
        "star",
    }
    # XGNN builds graphs of two data sets, and is slow.
    found = configs_of("bundled,zoo-gin-sum", 20, methods="xgnn")
    assert {c.model for c in found} == {"mutag", "is_acyclic"}
    assert max(c.seed for c in found) == 2
    assert configs_of("zoo-gin-sum", 1, methods="paper") == []
    with pytest.raises(SpecError, match="method must be one of ours"):
        configs_of("mutag", 1, methods="magic")


def test_summary_by_hand() -> None:
    rows = [
        ROW,
        replace(ROW, seed=1, place_best=0.05, mean_probability=0.9, rule_best=False, nodes=9),
        replace(ROW, method="real", copy=True),
    ]
    measured = [{"method": "ours", "model": "shape", "target": "wheel", "discrepancy": 0.25}]
    ours, real = summarize(rows, measured).to_dict("records")
    assert (ours["runs"], ours["certain"], ours["rule"], ours["placed"]) == (2, 0.5, 0.5, 0.5)
    assert (ours["nodes"], ours["real_nodes"], ours["polygraph"]) == (8.0, 18.0, 0.25)
    assert real["copy"] == 1.0
    assert real["polygraph"] != real["polygraph"]  # NaN: not measured
    assert ours["core"] != ours["core"]


def test_what_is_not_reached_is_said() -> None:
    summary = summarize([replace(ROW, rule_best=False), replace(ROW, method="random", nodes=0)])
    assert unmet(summary) == ["shape / wheel: rule 0, wanted 0.95"]
    assert unmet(summarize([ROW])) == []


def test_the_chart_has_a_column_for_each_share() -> None:
    figure = chart(summarize([ROW, replace(ROW, method="random", rule_best=False)]))
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        "rule",
        "placed",
        "samples certain",
        "samples placed",
    ]


def test_bench_realism_prints_a_table_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, distinct50=12)
    out, plot = tmp_path / "rows.json", tmp_path / "rows.svg"
    common = ["bench", "realism", f"--out={out}"]
    result = CliRunner().invoke(
        app, [*common, "--models=mutag", "--seeds=2", "--method=ours,random", f"--plot={plot}"]
    )
    assert result.exit_code == 0, result.output
    assert "Realism: ours" in result.stdout
    assert "mutag nonmutagen" in result.stdout
    assert "not reached: mutag / mutagen: distinct 12, wanted 45" in result.stdout
    assert plot.read_text().startswith("<?xml")
    again = CliRunner().invoke(app, [*common, "--table"])
    assert again.stdout.count("mutag mutagen") == 2


def test_random_and_real_graphs_of_a_small_model(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    arguments = [
        "realism",
        "--models=zoo-gin-sum",
        "--seeds=1",
        "--method=random,real",
        f"--out={out}",
    ]
    assert main(arguments) == 0
    rows = {(row.method, row.target): row for row in BENCH.read(out)}
    assert len(rows) == 4
    for (method, _), row in rows.items():
        assert row.rule_best is None  # The zoo has no rule.
        assert row.valid is None
        assert row.copy == (method == "real")
        assert row.copy_samples == (1.0 if method == "real" else 0.0)
    real, random = rows["real", "house"], rows["random", "house"]
    assert real.place_samples is not None
    assert random.place_samples is not None
    assert real.place_samples >= 0.75 > random.place_samples
    drawn = json.loads(graphs_file(out).read_text())["drawn"]
    assert [len(entry["structures"]) for entry in drawn] == [256] * 4


def test_graphs_without_edges_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's recipe can end with nothing; half of these samples are empty."""
    real = subject("mutag").graphs[0]
    empty = real.subgraph(torch.zeros(real.num_nodes, dtype=torch.bool))
    said = Answer(empty, None, [empty], [empty, real] * 4, 0.0, False, 1.0, "nothing found")
    monkeypatch.setattr(module, "answer", lambda *_: said)
    row = module.measure_once("mutag", "mutagen", 5, "paper", 8)["row"]
    assert (row["nodes"], row["edges"], row["validation_score"]) == (0, 0, 0.0)
    assert row["certain_samples"] <= 0.5
    assert row["copy_samples"] == 0.5


def test_a_discrepancy_for_every_draw_and_controls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch)
    out = tmp_path / "rows.json"
    realism([RealismConfig("zoo-gin-sum", "house", 0)], out)
    asked = []

    def measure(real: list[object], drawn: list[object]) -> float:
        asked.append((len(real), len(drawn)))
        return 0.5

    rows = discrepancies(out, measure=measure)
    assert [row["method"] for row in rows] == ["half against half", "other classes", "ours"]
    assert asked == [(100, 100), (200, 200), (200, 256)]
    assert read_discrepancies(out) == rows
    assert read_discrepancies(tmp_path / "other.json") == []
    discrepancy_file(out).write_text("{}")
    with pytest.raises(CheckpointError, match="holds no discrepancies"):
        read_discrepancies(out)
    with pytest.raises(CheckpointError, match="measure realism first"):
        discrepancies(tmp_path / "none.json")


def test_every_drawn_graph_is_in_a_part() -> None:
    assert parts(5, 2) == [[0, 1], [2, 3], [4, 0]]
    assert parts(4, 4) == [[0, 1, 2, 3]]
