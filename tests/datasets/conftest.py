"""Fixtures of the data sets: the Rome archive where it is found, and small ones made by hand."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from gnninterpreter.datasets import rome
from gnninterpreter.datasets.published import DATA_VARIABLE


@pytest.fixture(scope="session")
def rome_archive() -> Path | None:
    """The published archive, if the environment names a folder that has it."""
    named = os.environ.get(DATA_VARIABLE)
    path = Path(named) / rome.ARCHIVE if named else None
    return path if path is not None and path.is_file() else None


@pytest.fixture(scope="session")
def rome_graphs(rome_archive) -> list[rome.BaseGraph] | None:
    """All Rome graphs, parsed once for the whole session, or None where there are none."""
    return None if rome_archive is None else rome.read_archive(rome_archive)


@pytest.fixture
def base(rome_graphs, rome_archive, monkeypatch) -> str:
    """The base to build on: Rome where it is found, synthetic otherwise."""
    if rome_graphs is None:
        return "synthetic"
    monkeypatch.setattr(rome, "find_archive", lambda root, **_: rome_archive)
    monkeypatch.setattr(rome, "read_archive", lambda path: rome_graphs)
    return "rome"


@pytest.fixture
def offline(monkeypatch):
    """No archive anywhere, and no network."""

    def refuse(*args, **kwargs):
        raise OSError("no route to host")

    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    monkeypatch.setattr("urllib.request.urlopen", refuse)


def graphml(num_nodes: int, edges: list[tuple[int, int]]) -> bytes:
    nodes = "".join(f'<node id="n{i}"/>' for i in range(num_nodes))
    lines = "".join(f'<edge source="n{i}" target="n{j}"/>' for i, j in edges)
    return (
        '<?xml version="1.0"?><graphml><graph edgedefault="undirected">'
        f"{nodes}{lines}</graph></graphml>"
    ).encode()


def write_archive(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"rome/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path
