"""One set of thresholds: nobody who judges has one of their own."""

from __future__ import annotations

import ast
from pathlib import Path

import gnninterpreter
from gnninterpreter.evidence import thresholds
from gnninterpreter.objective import value

ROOT = Path(gnninterpreter.__file__).parent
JUDGES = ("explanation", "audit", "report", "web", "cli", "baselines")
NAMES = {
    "REACHED",
    "PROBABLE",
    "WANTED",
    "CERTAIN",
    "OUTLYING",
    "TENTH",
    *filter(str.isupper, vars(thresholds)),
}


def test_certain_is_what_targets_call_certain() -> None:
    assert thresholds.CERTAIN is value.CERTAIN


def test_nobody_else_defines_one() -> None:
    for package in JUDGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.Assign):
                    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                    assert not names & NAMES, f"{path.name} has a threshold of its own: {names}"
