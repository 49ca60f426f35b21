"""The examples of README, CONTRIBUTING and the documentation work as they stand."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import gnninterpreter as gi
from gnninterpreter.evidence.verdict import WORDS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
# Examples of these take a model of their own, and are tried elsewhere.
ELSEWHERE = {"audits.md", "paper.md"}
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def examples(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def run(example: str, page: Path, names: dict[str, Any]) -> None:
    exec(compile(example, page.name, "exec"), names)


def test_the_first_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    run(examples(README)[0], README, names)
    assert "(n=1000)" in capsys.readouterr().out
    assert (tmp_path / "star.html").is_file()
    assert list(names["again"]) == ["star"]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """What a reader has at hand: a model, its data, and what came out for it."""
    shape, mutag = gi.models.load("shape"), gi.models.load("mutag")
    graphs = gi.datasets.load("shape", root=tmp_path_factory.mktemp("shape"), num_graphs=60)

    @cache
    def molecules() -> gi.datasets.ExplainableDataset:
        return gi.datasets.load("mutag", root=tmp_path_factory.mktemp("mutag"))

    def at_hand(example: str) -> dict[str, Any]:
        bundle, data = (mutag, molecules()) if '"atom"' in example else (shape, graphs)
        return {"gi": gi, "bundle": bundle, "model": bundle.model, "dataset": data}

    return at_hand


@pytest.mark.parametrize(
    "page", [p for p in PAGES if p.name not in ELSEWHERE], ids=lambda p: p.name
)
def test_every_example_runs(
    page: Path,
    names: Callable[[str], dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, made = gi.explain, []

    def quickly(*args: Any, **kwargs: Any) -> gi.ExplanationSet:
        """As asked for, but small: what is tried here is that it can be asked for so."""
        recipe = kwargs.get("recipe", "auto")
        recipe = gi.Recipe.auto() if recipe == "auto" else recipe
        if any(phase.name == "gradient" for phase in recipe.phases):
            recipe = recipe.with_(iterations=5)
        slow = {"anneal", "local search", "iterated search", "calibrate", "shortcuts"}
        slow &= {phase.name for phase in recipe.phases}
        one = {"targets": "mutagen" if "spec" in kwargs else "star"}
        small = {"restarts": 1, "progress": False, "recipe": recipe.without(*slow)}
        made.append(whole(*args, **{**one, **kwargs, **small}))
        return made[-1]

    monkeypatch.setattr(gi, "explain", quickly)
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    shown = examples(page)[page is README :]
    for example in shown:
        known |= names(example)
        run(example, page, known)
    assert len(made) >= sum(len(re.findall(r"^[^#\n]*gi\.explain\(", e, re.M)) for e in shown)
    for result in made:
        assert all(found.num_nodes > 0 and found.verdict.word for found in result.values())
        assert len(result) > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_linked_files_exist(page: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))  # SMILES look like links
    for link in re.findall(r"\]\(([^)#:]+)\)", prose):
        assert (page.parent / link).is_file(), link


def test_the_departures_from_the_paper_name_places_that_exist() -> None:
    text = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| \d", line)]
    assert len(rows) > 40
    for row in rows:
        places = re.findall(r"`([a-z_/0-9]+\.py)`", row.rsplit("|", 2)[1])
        assert places, row
        for place in places:
            assert (ROOT / "src" / "gnninterpreter" / place).is_file(), place


def test_the_drawn_import_graph_is_up_to_date() -> None:
    written = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "drawing", "__file__": str(ROOT / "docs" / "x.py")}
    script = ROOT / "docs" / "make_import_graph.py"
    exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), names)
    assert names["updated"](written) == written, "run docs/make_import_graph.py"


def test_the_quickstart_explains_every_verdict() -> None:
    text = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    words = {word for pair in WORDS.values() for word in pair} - {None, "not checked"}
    assert [word for word in sorted(words) if f'"{word}"' not in text] == []
