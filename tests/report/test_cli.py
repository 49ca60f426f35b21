"""``gnninterpreter report`` on runs of bundled models and of others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import OWN, QUICK, Answer, cli

__all__ = ["cli"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def test_report_of_a_run_again(cli: Callable[..., Answer], folder: Path) -> None:
    run = folder / "own"
    assert cli("explain", *OWN, *QUICK, "--quiet", "--out", run)[0] == 0
    assert "p = " in (run / "report.html").read_text()
    code, out, _ = cli("report", run, "--out", folder / "plain.html")
    assert code == 0
    assert out.strip().endswith("plain.html")
    assert "Written without the model" in (folder / "plain.html").read_text()
    code, _, _ = cli("report", run, "--model", "lab:model", "--data", "lab:graphs")
    assert code == 0
    assert "Nearest real graphs" in (run / "report.html").read_text()


def test_another_model_is_refused(cli: Callable[..., Answer], folder: Path) -> None:
    run = folder / "other"
    cli("explain", *OWN, *QUICK, "--quiet", "--out", run)
    code, _, err = cli("report", run, "--model", "lab:never_dense", "--data", "lab:graphs")
    assert code == 2
    assert "not the model that the run explains" in err


def test_no_run(cli: Callable[..., Answer], tmp_path: Path) -> None:
    code, _, err = cli("report", tmp_path)
    assert code == 2
    assert err.startswith("error: ")


def test_a_model_that_changes_its_mind_costs_no_run(
    cli: Callable[..., Answer], folder: Path
) -> None:
    run = folder / "nan"
    code, _, _ = cli(
        "explain", "lab:not_a_number", "--data", "lab:graphs", *QUICK, "--quiet", "--out", run
    )
    assert code in (0, 2)
    assert code == 2 or (run / "run.json").is_file()
