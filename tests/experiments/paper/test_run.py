from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from gnninterpreter.cli.app import app
from gnninterpreter.errors import OutputError, SpecError
from gnninterpreter.experiments.paper import STUDIES, run

CHEAP = ("statistics", "classifiers")


def test_writes_every_table_in_three_forms_and_an_index(tmp_path):
    tables = run(CHEAP, tmp_path, quick=True)
    assert [table.name for table in tables] == ["statistics", "accuracy", "f1"]
    for ending in ("csv", "json", "md"):
        assert (tmp_path / "classifiers" / f"f1.{ending}").is_file()
    index = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "## F1 score of each class" in index
    assert "quick version" in index


def test_goes_on_where_it_was(tmp_path):
    said: list[str] = []
    first = run(CHEAP, tmp_path, quick=True)
    (tmp_path / "statistics" / "statistics.csv").unlink()
    again = run(CHEAP, tmp_path, quick=True, say=said.append)
    assert "classifiers: already there" in said
    assert "statistics: begins" in said
    assert "6 of 6 values are there" in said
    assert [t.to_markdown() for t in again] == [t.to_markdown() for t in first]


@pytest.mark.parametrize("change", [{"seed": 1}, {"fresh": True}])
def test_other_inputs_or_a_fresh_run_do_it_again(tmp_path, change):
    said: list[str] = []
    run(CHEAP[1:], tmp_path, quick=True)
    run(CHEAP[1:], tmp_path, quick=True, say=said.append, **change)
    assert "classifiers: begins" in said


def test_a_record_that_is_no_record_is_not_believed(tmp_path):
    said: list[str] = []
    (tmp_path / "classifiers").mkdir()
    (tmp_path / "classifiers" / "study.json").write_text("{", encoding="utf-8")
    run(CHEAP[1:], tmp_path, quick=True, say=said.append)
    assert "classifiers: begins" in said
    assert json.loads((tmp_path / "classifiers" / "study.json").read_text())["tables"]


def test_unknown_study_and_unwritable_folder(tmp_path):
    with pytest.raises(SpecError, match="statistics, classifiers"):
        run(["poetry"], tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="choose another folder"):
        run(CHEAP, tmp_path / "file")


def test_the_command_prints_the_tables(tmp_path):
    result = CliRunner().invoke(
        app, ["paper", "classifiers", "--quick", "--out", str(tmp_path / "out")]
    )
    assert result.exit_code == 0, result.output
    assert "| mutag | 0.947 | " in result.output


def test_the_command_lists_what_there_is_to_do(tmp_path):
    out = str(tmp_path / "out")
    arguments = ["paper", "statistics", "--quick", "--out", out]
    result = CliRunner().invoke(app, [*arguments, "--list"])
    assert "sizes: dataset=mutag, whole=False" in result.output
    assert "6 of 6 to compute" in result.output
    assert not (tmp_path / "out").exists()
    CliRunner().invoke(app, arguments)
    assert "0 of 6 to compute" in CliRunner().invoke(app, [*arguments, "--list"]).output


def test_the_command_knows_every_study():
    from gnninterpreter.cli.paper import Study

    assert {study.value for study in Study} == {*STUDIES, "all"}
