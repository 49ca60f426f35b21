"""The programs in ``benchmarks`` take long and run rarely; what they import has to be there."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Module and name of everything that a program takes from this package."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gnninterpreter"):
            yield from ((str(node.module), alias.name) for alias in node.names)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_what_a_program_imports_is_there(path: Path) -> None:
    for module, name in imported(path):
        found = importlib.import_module(module)
        assert hasattr(found, name) or find_spec(f"{module}.{name}"), f"{module} has no {name}"
