"""``gnninterpreter audit``: table, JSON, folder, gate, training again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

import gnninterpreter as gi
from gnninterpreter import audit as package
from gnninterpreter.audit.findings import Audit, Finding, Kind, Severity
from gnninterpreter.cli.audit import whole_folder
from gnninterpreter.errors import OutputError
from gnninterpreter.models import Bundle
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.training.trainer import train
from tests.audit.conftest import SPEC
from tests.audit.test_retraining import CONFIG, GRAPHS
from tests.cli.conftest import OWN, QUICK, Answer, cli
from tests.report.conftest import make_result

__all__ = ["cli"]
FAST = (*QUICK, "--hosts", "8", "--quiet")


def test_a_table(cli: Callable[..., Answer]) -> None:
    code, out, _ = cli("audit", *OWN, *FAST)
    assert code == 0
    assert "Audit of Degrees" in out or "no findings" in out


def test_classes_by_the_names_that_are_given(cli: Callable[..., Answer]) -> None:
    code, out, _ = cli("audit", *OWN, *FAST, "--class-names", "sparse, dense", "--json")
    assert code == 0
    assert json.loads(out)["spec"]["class_names"] == ["sparse", "dense"]


def test_json_and_a_folder(cli: Callable[..., Answer], tmp_path: Path) -> None:
    code, out, err = cli("audit", *OWN, *FAST, "--json", "--out", tmp_path / "run")
    assert code == 0
    assert json.loads(out)["kind"] == "gnninterpreter audit"
    assert "report.html" in err
    stored = json.loads((tmp_path / "run" / "audit.json").read_text())
    assert stored["findings"] == [] or "graphs" in stored["findings"][0]
    assert 'id="audit"' in (tmp_path / "run" / "report.html").read_text()
    assert set(gi.load(tmp_path / "run")) == {"class 0", "class 1"}
    assert cli("audit", *OWN, *FAST, "--out", tmp_path / "run")[0] == 2


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder, last = tmp_path / "run", ("audit.json", "run.json")

    def write(text: str, names: tuple[str, ...] = ("a.html", *last)) -> None:
        with whole_folder(folder, tmp_path / ".work", last) as made:
            for name in names:
                (made / name).write_text(text)
                if text == "killed":
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write("killed")
    assert list(tmp_path.iterdir()) == []
    write("first")
    (folder / "mine.txt").write_text("kept")
    with pytest.raises(KeyboardInterrupt):
        write("killed")
    assert {path.read_text() for path in folder.iterdir()} == {"first", "kept"}
    write("second")
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "a.html": "second",
        "audit.json": "second",
        "mine.txt": "kept",
        "run.json": "second",
    }
    assert list(tmp_path.iterdir()) == [folder]


def test_killed_while_replacing_it_is_no_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text("old")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    with (
        pytest.raises(KeyboardInterrupt),
        whole_folder(folder, tmp_path / ".work", ("run.json",)) as made,
    ):
        (made / "run.json").write_text("new")
    assert list(folder.iterdir()) == []


def test_something_else_where_it_is_made(tmp_path: Path) -> None:
    (tmp_path / ".work").mkdir()
    (tmp_path / ".work" / "made").touch()
    with (
        pytest.raises(OutputError, match=r"cannot write .*made"),
        whole_folder(tmp_path / "out", tmp_path / ".work", ()),
    ):
        pass


def test_what_has_to_be_mended(cli: Callable[..., Answer]) -> None:
    assert cli("audit", "lab:model", *FAST)[0] == 2
    assert "--retrain needs a bundled model" in cli("audit", *OWN, *FAST, "--retrain")[2]
    assert cli("audit", *OWN, *QUICK, "--hosts", "0", "--quiet")[0] == 2
    assert "--epochs is only for --retrain" in cli("audit", *OWN, *FAST, "--epochs", "3")[2]


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny bundle of a data set with a rule that it has not learned."""

    class Rings(list[object]):
        name = "rings"
        spec = SPEC

        @staticmethod
        def oracle(graph: object) -> int:
            drawn = nx.Graph(graph.edge_index.t().tolist())  # type: ignore[attr-defined]
            return int(drawn.number_of_edges() >= len(drawn) and nx.is_connected(drawn))

    from tests.cli import lab

    monkeypatch.setenv("GNNINTERPRETER_CACHE", str(tmp_path / "cache"))
    graphs = GRAPHS[:20]
    monkeypatch.setattr(lab, "rings", Rings(graphs), raising=False)
    result = train(graphs, CONFIG)
    statistics = ClassStatistics.from_dataset(result.model, graphs, SPEC)
    settings = {"settings": CONFIG.to_json()}
    bundle = Bundle(result.model, SPEC, statistics, result.scores, "rings", training=settings)
    return bundle.save(tmp_path, "rings")


@pytest.mark.parametrize(
    ("gate", "code"), [((), 0), (("--fail-on", "high"), 0), (("--fail-on", "medium"), 1)]
)
def test_the_gate(
    cli: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch, gate: tuple[str, ...], code: int
) -> None:
    finding = Finding(Kind.LOOKALIKE, Severity.MEDIUM, "dense", "a title", "a sentence")
    made = Audit(make_result(SPEC), (finding,))
    monkeypatch.setattr(package, "audit", lambda *_, **__: made)
    said, out, _ = cli("audit", *OWN, *FAST, "--json", *gate)
    assert json.loads(out)["counts"] == {"high": 0, "medium": 1, "low": 0}
    assert said == code


def test_training_again(cli: Callable[..., Answer], saved: Path, tmp_path: Path) -> None:
    once = ("--restarts", "1", "--iterations", "5", "--hosts", "2", "--quiet")
    again = ("--retrain", "--epochs", "2", "--out", tmp_path / "run")
    code, out, _ = cli("audit", saved, "--data", "tests.cli.lab:rings", *once, *again)
    assert code == 0
    assert "after training again" in out
    stored = json.loads((tmp_path / "run" / "audit.json").read_text())
    assert {"test accuracy", "hosts"} <= set(stored["before"]["numbers"])
    assert (tmp_path / "run" / "rings-retrained.json").is_file()
    assert "Before" in (tmp_path / "run" / "report.html").read_text()
