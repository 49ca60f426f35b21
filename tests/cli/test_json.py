"""With ``--json`` a command writes one JSON document on standard output, and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import typer

import gnninterpreter as gi
from gnninterpreter.cli.app import app
from gnninterpreter.cli.output import only_results
from tests.sweep.conftest import write_file

from .conftest import Answer
from .lab import Talkative, graphs


def commands(command: Any = None, name: str = "") -> dict[str, Any]:
    command = typer.main.get_command(app) if command is None else command
    if not hasattr(command, "commands"):
        return {name: command}
    found: dict[str, Any] = {}
    for part, inner in command.commands.items():
        found |= commands(inner, f"{name} {part}".strip())
    return found


def one_document(answer: Answer) -> Any:
    code, out, err = answer
    assert code == 0, err
    return json.loads(out)


def test_every_command_that_ends_has_it() -> None:
    without = {
        name
        for name, command in commands().items()
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert without == {"serve"}


def test_a_model_that_prints_is_told_apart(cli: Callable[..., Answer], tmp_path: Path) -> None:
    settings = {"restarts": 1, "targets": 1, "progress": False, "callbacks": (lambda _: True,)}
    gi.explain(Talkative(), graphs(), **settings).save(tmp_path)
    asked = (tmp_path, "--model", "lab:talkative", "--data", "lab:graphs", "--json")
    assert one_document(cli("report", *asked))["report"] == str(tmp_path / "report.html")


def test_lists_and_tables(cli: Callable[..., Answer], tmp_path: Path) -> None:
    assert len(one_document(cli("models", "--json"))) == 10
    listed = ("paper", "classifiers", "--quick", "--list", "--json", "--out", tmp_path)
    assert all(isinstance(line, str) for line in one_document(cli(*listed)))
    sweep = ("sweep", write_file(tmp_path, seeds=2), "--list", "--json")
    assert one_document(cli(*sweep))["left"] == 2


def test_benchmarks(
    cli: Callable[..., Answer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnninterpreter.experiments.robustness import compute
    from tests.experiments.robustness.test_robustness import RUN

    def once(**given: Any) -> dict[str, Any]:
        return {"row": asdict(replace(RUN, **given))}

    monkeypatch.setattr(compute, "explain_once", once)
    runs = ("--models=mutag", "--seeds=1", f"--out={tmp_path / 'runs.json'}", "--json")
    assert one_document(cli("bench", "robustness", *runs))[0]["model"] == "mutag"


def test_what_others_print_goes_elsewhere(capfd: pytest.CaptureFixture[str]) -> None:
    with only_results(True):
        os.system("echo loud")
    os.system("echo the document")
    out, err = capfd.readouterr()
    assert (out, err) == ("the document\n", "loud\n")
