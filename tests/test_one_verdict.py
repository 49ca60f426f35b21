"""One run, one verdict: page, notebook, table, JSON, run folder and audit say the same word."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from typer.testing import CliRunner

import gnninterpreter as gi
from gnninterpreter.audit import Audit, audit
from gnninterpreter.cli.app import app
from gnninterpreter.cli.output import echo_table
from gnninterpreter.evidence.verdict import TRUSTWORTHY, WORDS
from gnninterpreter.explanation import ExplanationSet

QUICK = (
    "-t",
    "0",
    "-t",
    "1",
    "--restarts",
    "2",
    "--iterations",
    "1",
    "--max-nodes",
    "6",
    "-q",
    "--json",
)


def words(result: ExplanationSet) -> dict[str, str]:
    return {name: explanation.verdict.word for name, explanation in result.items()}


def on_page(page: str) -> list[str]:
    found = re.findall(
        r'<p class="verdict \w+"><span class="mark[^<]*</span><span><strong>(.+?)\.<', page
    )
    return [unescape(word).lower() for word in found]


def in_overview(page: str) -> list[str]:
    found = re.findall(r'<span class="finding">(.+?)</span>', page)
    return [unescape(words).split(";")[0] for words in found]


def in_notebook(result: ExplanationSet) -> list[str]:
    return [
        unescape(w).lower()
        for w in re.findall(r"font-weight:600\">(.+?)</div>", result._repr_html_())
    ]


def in_table(
    result: ExplanationSet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    monkeypatch.setenv("COLUMNS", "200")
    echo_table(result)
    rows = [
        line.split("│") for line in capsys.readouterr().out.splitlines() if line.startswith("│")
    ]
    return [row[-2].strip() for row in rows]


pytestmark = pytest.mark.slow


# One whose rule is exact and whose data are at hand, one with a rule of thumb and without data.
@pytest.fixture(scope="module", params=["is_acyclic", "mutag"])
def run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, dict]:
    """A run of the command line: the model's name, its folder and its JSON document."""
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNNINTERPRETER_CACHE", str(tmp_path_factory.mktemp("cache")))
        if request.param == "is_acyclic":
            gi.datasets.load("is_acyclic")
        answer = CliRunner().invoke(app, ["explain", request.param, *QUICK, "--out", str(folder)])
    assert answer.exit_code == 0
    return request.param, folder, json.loads(answer.stdout)


@pytest.fixture(scope="module")
def audited(run: tuple[str, Path, dict]) -> Audit:
    name, folder, _ = run
    return audit(gi.models.load(name), explanations=gi.load(folder), hosts=2)


def test_everybody_says_the_same_of_a_run(run, capsys, monkeypatch) -> None:
    _, folder, document = run
    result = gi.load(folder)
    said = list(words(result).values())
    assert set(said) <= {TRUSTWORTHY, *(word for pair in WORDS.values() for word in pair)}
    page = (folder / "report.html").read_text()
    assert on_page(page) == said
    assert in_overview(page) == said
    assert in_notebook(result) == said
    assert in_table(result, capsys, monkeypatch) == said
    assert [entry["verdict"]["word"] for entry in document["classes"]] == said
    assert [e.evidence.to_json() for e in result.values()] == [
        e["evidence"] for e in document["classes"]
    ]


def test_everybody_says_the_same_of_an_audit(run, audited, tmp_path, capsys, monkeypatch) -> None:
    result = audited.explanations
    said = list(words(result).values())
    page = gi.load(run[1]).report(tmp_path / "audit.html", audit=audited).read_text()
    assert on_page(page) == said
    assert in_overview(page) == said
    assert in_notebook(result) == said
    assert in_table(result, capsys, monkeypatch) == said
    assert [entry["verdict"]["word"] for entry in audited.to_json()["classes"]] == said
    result.save(tmp_path / "run")
    assert list(words(gi.load(tmp_path / "run")).values()) == said


def test_an_audit_only_adds_to_the_evidence(run, audited) -> None:
    for name, before in gi.load(run[1]).items():
        after = audited.explanations[name]
        assert [c for c in after.evidence if c.name != "audit"] == [
            c for c in before.evidence if c.name != "audit"
        ]
        assert before.evidence["audit"].state == "not checked"
        assert after.evidence["audit"].state != "not checked"
        if any(f.target == name for f in audited.at_least("high")):
            assert after.verdict.level == "bad"
        if not any(f.target == name for f in audited.at_least("medium")):
            assert after.verdict.word == before.verdict.word


def test_the_rule_of_mutag_is_one_of_thumb(run) -> None:
    name, folder, _ = run
    names = {check.name for e in gi.load(folder).values() for check in e.evidence}
    assert ("rule of thumb" in names) == (name == "mutag")
    assert ("rule of the data set" in names) == (name != "mutag")
    assert "ground truth" not in (folder / "report.html").read_text().lower()


def test_json_holds_the_graphs(run) -> None:
    from gnninterpreter.interchange import graph_from_json

    _, folder, document = run
    result = gi.load(folder)
    for entry, explanation in zip(document["classes"], result.values(), strict=True):
        best = graph_from_json(entry["best"], result.spec)
        assert (best.num_nodes, best.num_edges // 2) == (entry["nodes"], entry["edges"])
        assert best.x.tolist() == explanation.best.x.tolist()
        assert [mode["restarts"] for mode in entry["modes"]] == [
            list(m.restarts) for m in explanation.modes()
        ]
