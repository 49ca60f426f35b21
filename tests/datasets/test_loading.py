"""Data sets that lie in the cache, that can be made here, and that would have to be fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnninterpreter.datasets import NAMES, load
from gnninterpreter.datasets.published import MissingFileError

FETCHED = set(NAMES) - {"is_acyclic", "shape"}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of the network, which there is none of, nor any published file."""
    urls: list[str] = []

    def urlopen(url: str, **_: object) -> None:
        urls.append(url)
        raise OSError("no route to host")

    monkeypatch.setenv("GNNINTERPRETER_CACHE", str(tmp_path))
    monkeypatch.delenv("GNNINTERPRETER_DATA", raising=False)
    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("gnninterpreter.datasets.rome.NUM_GRAPHS", 20)
    return urls


@pytest.mark.parametrize("name", sorted(FETCHED))
def test_without_downloads_nothing_is_fetched_nor_written(
    name: str, asked: list[str], tmp_path: Path
) -> None:
    with pytest.raises(MissingFileError, match="no folder has"):
        load(name, download=False)
    assert not asked
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_without_downloads_nothing_stands_in_for_published_graphs(
    asked: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    load("color_consistency", base="synthetic")
    with pytest.raises(MissingFileError, match=r"rome-graphml\.tgz"):
        load("color_consistency", download=False)
    assert len(load("color_consistency", base="synthetic", download=False)) == 20
    assert not asked
    assert not caplog.records


def test_what_needs_no_file_is_made_once(asked: list[str], tmp_path: Path) -> None:
    made = load("is_acyclic", download=False, num_graphs=20)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    again = load("is_acyclic", download=False, num_graphs=20)
    assert again.fingerprint == made.fingerprint
    assert files
    assert files == {path: path.stat().st_mtime_ns for path in files}
    assert not asked
