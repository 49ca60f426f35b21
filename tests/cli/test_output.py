from __future__ import annotations

import json

import pytest

from gnninterpreter.cli.output import check_output, echo_json
from gnninterpreter.errors import OutputError


def test_json_has_no_nan(capsys):
    echo_json({"a": float("nan"), "b": [1.5, float("inf")], "c": {"d": (True, None, "±")}})
    out = capsys.readouterr().out
    assert json.loads(out) == {"a": None, "b": [1.5, None], "c": {"d": [True, None, "±"]}}


def test_checking_leaves_nothing_behind(tmp_path):
    check_output(tmp_path / "a" / "b", overwrite=False)
    check_output(tmp_path, overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_relative_folder(tmp_path, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    check_output(Path("run"), overwrite=False)


def test_a_run_in_the_way(tmp_path):
    (tmp_path / "run.json").touch()
    with pytest.raises(OutputError, match="already holds a run"):
        check_output(tmp_path, overwrite=False)
    check_output(tmp_path, overwrite=True)


def test_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        check_output(tmp_path / "file" / "run", overwrite=False)


def test_a_name_that_no_disk_takes(tmp_path):
    with pytest.raises(OutputError, match="--out must be a path that can be looked at"):
        check_output(tmp_path / ("x" * 300), overwrite=False)
