"""The layout follows the data: a package imports only from its left.

Read off the syntax trees, for imports that run when a module is loaded. What a function imports
when it is called, and what only a type checker reads, is not counted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gnninterpreter

ROOT = Path(gnninterpreter.__file__).parent
# Everybody may import these; they import only each other.
LEFTMOST = ("_version", "errors", "spec", "_inference", "graphs", "interchange", "progress")
FLOW = (
    "datasets", "models", "relax", "distribution", "objective", "optim", "explanation",
    "evaluation", "report", "cli",
)  # fmt: skip
# Beside the flow, which does not know them: the last package of it that they may import, and what
# else they may.
BESIDE: dict[str, tuple[str, tuple[str, ...]]] = {
    "testing": ("relax", ()),
    "baselines": ("evaluation", ()),
    "audit": ("evaluation", ("api",)),
    "paper": ("report", ("api", "baselines", "audit")),
    "sweep": ("report", ("api", "baselines")),
    "web": ("report", ("api", "audit")),
}
# These put everything together.
COMPOSE = ("api", "__init__", "__main__")


def part_of(module: str) -> str:
    """The package or top module that a dotted name within the library belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def loaded_imports(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when a module does."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                yield from loaded_imports(node.body)
            yield from loaded_imports(node.orelse)
        elif isinstance(node, ast.Try):
            for part in (node.body, node.orelse, node.finalbody):
                yield from loaded_imports(part)
            for handler in node.handlers:
                yield from loaded_imports(handler.body)
        elif isinstance(node, (ast.With, ast.ClassDef)):
            yield from loaded_imports(node.body)


def imported(path: Path) -> Iterator[str]:
    """The parts of the library that a file imports when it is loaded."""
    for node in loaded_imports(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif node.module == "gnninterpreter":
            names = [f"gnninterpreter.{alias.name}" for alias in node.names]
        else:
            assert not node.level, f"{path.name} has a relative import"
            names = [node.module or ""]
        yield from (part_of(name) for name in names if name.split(".")[0] == "gnninterpreter")


def files() -> dict[str, Path]:
    return {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("*.py"))}


def own_part(name: str) -> str:
    return Path(name).parts[0].removesuffix(".py")


def allowed(part: str) -> set[str]:
    if part in LEFTMOST:
        return set(LEFTMOST)
    if part in COMPOSE:
        return {*LEFTMOST, *FLOW, *COMPOSE}
    # The command line is the program, so it may call what puts everything together.
    last, others = BESIDE.get(part, (part, COMPOSE if part == "cli" else ()))
    return {*LEFTMOST, *FLOW[: FLOW.index(last) + 1], part, *others}


@pytest.mark.parametrize("name", files())
def test_imports_run_only_to_the_left(name: str) -> None:
    part = own_part(name)
    assert part in (*LEFTMOST, *FLOW, *BESIDE, *COMPOSE), f"{part} has no place in the layout"
    found = set(imported(files()[name]))
    assert found <= allowed(part), f"{name} imports {sorted(found - allowed(part))}"


def test_every_package_of_the_flow_is_there() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert set(FLOW) <= packages


def test_the_reader_of_imports_sees_what_runs_and_nothing_else(tmp_path: Path) -> None:
    source = tmp_path / "example.py"
    source.write_text(
        "from __future__ import annotations\n"
        "import torch\n"
        "from typing import TYPE_CHECKING\n"
        "from gnninterpreter.relax.model import RelaxedModel\n"
        "from gnninterpreter import report\n"
        "try:\n    import gnninterpreter.optim\nexcept ImportError:\n    pass\n"
        "if TYPE_CHECKING:\n    from gnninterpreter.cli import main\n"
        "def later():\n    from gnninterpreter.explanation import Explanation\n"
    )
    assert sorted(imported(source)) == ["optim", "relax", "report"]


@pytest.mark.parametrize(
    ("part", "may", "may_not"),
    [
        ("spec", {"errors"}, {"datasets", "relax"}),
        ("objective", {"graphs", "models", "distribution"}, {"optim", "explanation", "api"}),
        ("testing", {"relax"}, {"distribution"}),
        ("baselines", {"evaluation"}, {"report", "api", "audit"}),
        ("report", {"explanation"}, {"cli", "api", "audit"}),
        ("cli", {"report", "api"}, {"testing"}),
    ],
)
def test_what_is_left_of_what(part: str, may: set[str], may_not: set[str]) -> None:
    assert may <= allowed(part)
    assert allowed(part).isdisjoint(may_not)
