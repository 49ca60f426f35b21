"""Files are there whole or not at all, and what is read may be anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gnninterpreter.errors import OutputError
from gnninterpreter.files import (
    MOST_DEPTH,
    atomic_path,
    finite,
    read_file,
    read_json,
    write_atomically,
)


def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    place = write_atomically(tmp_path / "deep" / "file", b"content")
    assert read_file(place) == b"content"
    assert [p.name for p in place.parent.iterdir()] == ["file"]
    assert place.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_failed_write_leaves_nothing_behind(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").write_bytes(b"old")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    for name in ("old", "new"):
        with pytest.raises(OutputError, match=r"cannot write .*: No space left on device"):
            write_atomically(tmp_path / name, b"content")
    assert [p.name for p in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"


def test_an_interrupted_write_leaves_nothing_behind(tmp_path: Path) -> None:
    def write() -> None:
        with atomic_path(tmp_path / "file") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert list(tmp_path.iterdir()) == []


def test_content_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = []
    sync, replace = os.fsync, os.replace

    def note_sync(handle: int) -> None:
        order.append("sync")
        sync(handle)

    def note_replace(source: Path, target: Path) -> None:
        order.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    write_atomically(tmp_path / "file", b"content")
    # The second one is the folder's, which holds the name.
    assert order == ["sync", "rename", "sync"]


def test_json_of_others(tmp_path: Path) -> None:
    place = tmp_path / "file.json"
    place.write_text('{"a": [1, 2.5, null]}')
    assert read_json(place) == {"a": [1, 2.5, None]}
    assert read_json(write_atomically(place, b"[" * MOST_DEPTH + b"]" * MOST_DEPTH))
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "Expecting"),
        (b"\xff\xfe", "utf-8"),
        (b"[NaN]", "NaN is no JSON number"),
        (b"[" * 990 + b"]" * 990, "nested too deeply"),
        (b"[" * 10**6, "nested too deeply"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "nested too deeply"),
        (b" " * 101, "more than 100 bytes"),
    ],
)
def test_json_that_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    place = write_atomically(tmp_path / "file.json", content)
    most = 100 if "bytes" in said else 10**7
    with pytest.raises(ValueError, match=said):
        read_json(place, most)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ValueError, match="is no regular file"):
            read_json(place)


def test_numbers_that_are_not_finite_become_null() -> None:
    assert finite({"a": (float("nan"), 1.5)}) == {"a": [None, 1.5]}
