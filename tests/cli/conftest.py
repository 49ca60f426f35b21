"""Runs the command line inside the test's own process, from the folder that holds `lab.py`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gnninterpreter.cli.app import app
from gnninterpreter.search import Recipe
from tests.tiny import quick_auto

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
QUICK = ("--restarts", "2", "--iterations", "20")
OWN = ("lab:model", "--data", "lab:graphs")

# What came back: exit code, standard output, standard error.
Answer = tuple[int, str, str]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    monkeypatch.chdir(HERE)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments: object) -> Answer:
        with monkeypatch.context() as patch:
            if "--iterations" in arguments:  # quick is what is meant
                patch.setattr(Recipe, "auto", staticmethod(quick_auto))
            result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.fixture
def environment() -> dict[str, str]:
    """The environment for a process of its own, which finds the package as this one does."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
