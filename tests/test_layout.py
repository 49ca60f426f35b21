"""The layout follows the data: a package imports only from its left, lazily or not.

Read off the syntax trees. What only a type checker reads is not counted; what a function imports
when it is called is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

import gnninterpreter

ROOT = Path(gnninterpreter.__file__).parent
# Everybody may import these; they import only each other.
LEFTMOST = (
    "_version", "errors", "arguments", "views", "files", "schema", "equality", "spec", "graphs",
    "interchange", "isomorphism", "parallel", "progress", "batches", "recording", "mixing",
)  # fmt: skip
FLOW = (
    "chem", "datasets", "typicality", "models", "relax", "distribution", "objective", "search",
    "evidence", "explanation", "audit", "report", "sweep", "web", "cli",
)  # fmt: skip
# Beside the flow: the last package of it that each may import, and what else it may.
BESIDE: dict[str, tuple[str, tuple[str, ...]]] = {
    "training": ("models", ("fingerprints",)),
    "testing": ("relax", ()),
    "api": ("explanation", ()),
    "baselines": ("explanation", ()),
    "pyg": ("explanation", ("api",)),
    "tracking": ("typicality", ()),
    "fingerprints": ("models", ()),
    "references": ("report", ()),
    "experiments": ("report", ("api", "baselines", "fingerprints", "references", "training")),
}
# From which package of the flow on those beside it may be used.
KNOWN = {
    "training": "audit", "api": "audit", "fingerprints": "explanation", "references": "sweep",
    "experiments": "cli",
}  # fmt: skip
# The package itself lists what is public, and starts the program.
COMPOSE = ("__init__", "__main__")


def part_of(module: str) -> str:
    """The package or top module that a dotted name within the library belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def running(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run, when a module is loaded or later."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield node
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for child in node.orelse:
            yield from running(child)
    else:
        for child in ast.iter_child_nodes(node):
            yield from running(child)


def imported(path: Path) -> Iterator[str]:
    """The parts of the library that a file imports."""
    for node in running(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif node.module == "gnninterpreter":
            names = [
                "gnninterpreter" if alias.name == "__version__" else f"gnninterpreter.{alias.name}"
                for alias in node.names
            ]
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
    last, others = BESIDE.get(part, (part, ()))
    place = FLOW.index(last)
    known = {beside for beside, first in KNOWN.items() if FLOW.index(first) <= place}
    return {*LEFTMOST, *FLOW[: place + 1], part, *others, *(known if part in FLOW else ())}


@pytest.mark.parametrize("name", [name for name in files() if own_part(name) not in COMPOSE])
def test_imports_run_only_to_the_left(name: str) -> None:
    part = own_part(name)
    assert part in (*LEFTMOST, *FLOW, *BESIDE), f"{part} has no place in the layout"
    found = set(imported(files()[name]))
    assert found <= allowed(part), f"{name} imports {sorted(found - allowed(part))}"


def test_no_two_packages_import_each_other_by_any_way_round() -> None:
    graph = nx.DiGraph()
    for name, path in files().items():
        part = own_part(name)
        if part not in COMPOSE:
            graph.add_edges_from((part, other) for other in imported(path) if other != part)
    assert list(nx.simple_cycles(graph)) == []


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
        "try:\n    import gnninterpreter.search\nexcept ImportError:\n    pass\n"
        "if TYPE_CHECKING:\n    from gnninterpreter.cli import main\n"
        "else:\n    from gnninterpreter.web import app\n"
        "def later():\n    from gnninterpreter.explanation import Explanation\n"
    )
    assert sorted(imported(source)) == ["explanation", "relax", "report", "search", "web"]


@pytest.mark.parametrize(
    ("part", "may", "may_not"),
    [
        ("spec", {"errors"}, {"datasets", "relax"}),
        ("objective", {"graphs", "models", "distribution"}, {"search", "explanation", "api"}),
        ("testing", {"relax"}, {"distribution"}),
        ("chem", {"graphs"}, {"datasets", "models"}),
        ("evidence", {"search", "chem"}, {"explanation", "audit", "api"}),
        ("explanation", {"evidence"}, {"audit", "report", "api"}),
        ("baselines", {"evidence", "explanation"}, {"report", "api", "audit"}),
        ("report", {"explanation", "audit"}, {"cli", "experiments"}),
        ("sweep", {"report", "audit", "api", "references"}, {"web", "cli", "experiments"}),
        ("cli", {"report", "sweep", "api", "experiments"}, {"testing"}),
    ],
)
def test_what_is_left_of_what(part: str, may: set[str], may_not: set[str]) -> None:
    assert may <= allowed(part)
    assert allowed(part).isdisjoint(may_not)


def test_what_is_taken_from_typing_is_there_on_python_3_10() -> None:
    later = {"Self", "Never", "NotRequired", "Required", "Unpack", "TypeVarTuple", "LiteralString"}
    later |= {"assert_never", "assert_type", "dataclass_transform", "override", "reveal_type"}
    for path in ROOT.rglob("*.py"):
        for one in running(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(one, ast.ImportFrom) and one.module == "typing":
                assert not later & {name.name for name in one.names}, path
