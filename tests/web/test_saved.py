"""Explanations saved from the live page: read once, whatever has become of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from gnninterpreter.errors import OutputError
from gnninterpreter.explanation import Explanation
from gnninterpreter.web import Backend, create_app
from gnninterpreter.web.saved import SavedRuns
from tests.web.conftest import SPEC, serving


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def runs(tmp_path: Path, backend: Backend, asked: list[str]) -> SavedRuns:
    def show(explanation: Explanation) -> dict[str, Any]:
        asked.append(explanation.name)
        return {"name": explanation.name}

    found = SavedRuns(tmp_path / "run", SPEC, show)
    (tmp_path / "run").mkdir()
    return found


def names(runs: SavedRuns) -> list[str]:
    return [entry["saved"] for entry in runs.entries()]


def test_each_is_read_once_and_again_when_it_changes(
    runs: SavedRuns, backend: Backend, asked: list[str], tmp_path: Path
) -> None:
    assert runs.entries() == []
    assert [runs.add(backend.result, 0) for _ in range(2)] == ["saved/0-1", "saved/0-2"]
    first = runs.entries()
    count = len(asked)
    assert count == len(first) == 2 * len(backend.result)
    assert runs.entries() == first
    assert len(asked) == count
    backend.result.save(tmp_path / "run" / "saved" / "0-1", overwrite=True)
    # Written last, it comes last.
    assert names(runs)[-1] == "saved/0-1"
    assert len(asked) == count + len(backend.result)
    shutil.rmtree(tmp_path / "run" / "saved" / "0-2")
    assert set(names(runs)) == {"saved/0-1"}


@pytest.mark.parametrize(
    "damage", ["{", "[" * 990 + "]" * 990, '{"kind": "gnninterpreter run", "schema": 1}', ""]
)
def test_a_damaged_one_is_left_out(
    runs: SavedRuns, backend: Backend, tmp_path: Path, damage: str
) -> None:
    for _ in range(2):
        runs.add(backend.result, 0)
    (tmp_path / "run" / "saved" / "0-1" / "run.json").write_text(damage)
    assert set(names(runs)) == {"saved/0-2"}


def test_one_that_cannot_be_shown_is_left_out(backend: Backend, tmp_path: Path) -> None:
    def fail(_: Explanation) -> dict[str, Any]:
        raise IndexError("out of range")

    runs = SavedRuns(tmp_path, SPEC, fail)
    runs.add(backend.result, 0)
    assert runs.entries() == []


def test_links_are_not_followed(runs: SavedRuns, backend: Backend, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    backend.result.save(outside / "0-1")
    place = tmp_path / "run" / "saved"
    place.symlink_to(outside)
    assert runs.entries() == []
    with pytest.raises(OutputError, match="is a link"):
        runs.add(backend.result, 0)
    assert sorted(os.listdir(outside)) == ["0-1"]
    place.unlink()
    place.mkdir()
    (place / "0-1").symlink_to(outside / "0-1")
    (place / "0-2").mkdir()
    for file in (outside / "0-1").iterdir():
        (place / "0-2" / file.name).symlink_to(file)
    assert runs.entries() == []


def test_the_page_opens_whatever_lies_there(backend: Backend, tmp_path: Path) -> None:
    backend.result.save(tmp_path)
    own = Backend(backend.result, tmp_path, backend.model)
    own.saved.add(backend.result, 0)
    for number in range(2, 5):
        shutil.copytree(tmp_path / "saved" / "0-1", tmp_path / "saved" / f"0-{number}")
    for tensors in (tmp_path / "saved" / "0-2").glob("*.safetensors"):
        tensors.write_bytes(b"nothing")
    (tmp_path / "saved" / "0-3" / "run.json").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "saved" / "pipe")
    (tmp_path / "saved" / "0-4" / "run.json").unlink()
    os.mkfifo(tmp_path / "saved" / "0-4" / "run.json")
    with serving(create_app(own)) as address:
        state = httpx.get(f"{address}/api/state", timeout=60)
        assert state.status_code == 200
        assert {entry["saved"] for entry in state.json()["saved"]} == {"saved/0-1"}
