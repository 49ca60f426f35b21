"""Parquet parts: whole or not at all, the last row of a job, one writer."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from gnninterpreter import files
from gnninterpreter.errors import CheckpointError, OutputError
from gnninterpreter.sweep import read_results
from gnninterpreter.sweep.results import COLUMNS, Results


def row(key: str, status: str = "done", **values: object) -> dict[str, object]:
    return {"key": key, "status": status, "seed": 1, **values}


def test_parts_are_read_while_others_are_written(tmp_path: Path) -> None:
    results = Results(tmp_path)
    assert read_results(tmp_path).num_rows == 0
    results.add([row("a"), row("b", "failed")])
    results.add([row("c", probability=0.5)])
    table = read_results(tmp_path)
    assert table.column_names == list(COLUMNS)
    assert table["key"].to_pylist() == ["a", "b", "c"]
    assert table["probability"].to_pylist() == [None, None, 0.5]
    assert [path.name for path in results.parts()] == ["part-000001.parquet", "part-000002.parquet"]


def test_a_part_takes_as_long_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "part-999999.parquet").touch()
    results, other = Results(tmp_path), Results(tmp_path)
    results.add([row("a")])
    monkeypatch.setattr(Results, "parts", None)  # The folder is not looked through again.
    assert results.add([row("b")]).name == "part-1000001.parquet"
    monkeypatch.undo()
    assert other.add([row("c")]).name == "part-1000002.parquet"
    assert results.add([row("d")]).name == "part-1000003.parquet"
    assert [path.stem[5:] for path in results.parts()][:2] == ["999999", "1000000"]


def test_the_last_row_of_a_job_counts_and_parts_become_one(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for status in ("failed", "done"):
        results.add([row("a", status)])
    results.add([row("b")])
    assert results.states() == {"a": "done", "b": "done"}
    results.join(most=2)
    assert [path.name for path in results.parts()] == ["part-000004.parquet"]
    assert results.states() == {"a": "done", "b": "done"}


def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = Results(tmp_path)
    results.add([row("a")])

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_sync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        results.add([row("b")])
    assert [path.name for path in tmp_path.iterdir()] == ["part-000001.parquet"]
    assert results.states() == {"a": "done"}


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with (
        Results(tmp_path).only_writer(),
        pytest.raises(OutputError, match="another run is writing"),
        Results(tmp_path).only_writer(),
    ):
        pass
    with Results(tmp_path).only_writer():  # free again
        pass


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(OutputError, match="cannot write"),
        Results(tmp_path / "file").only_writer(),
    ):
        pass


def test_a_foreign_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "part-000001.parquet").write_text("none")
    with pytest.raises(CheckpointError, match=r"part-000001.parquet is no part of a sweep"):
        read_results(tmp_path)


def test_a_folder_must_be_a_path() -> None:
    with pytest.raises(CheckpointError, match=r"folder must be a path .*\(got 3\)"):
        read_results(3)  # type: ignore[arg-type]
