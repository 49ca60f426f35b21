"""Data sets that lie in the cache, and those that would have to be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnninterpreter.datasets import cached, load


def test_only_what_is_there_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNNINTERPRETER_CACHE", str(tmp_path))
    assert cached("is_acyclic") is None
    assert cached("no such data set") is None
    assert list(tmp_path.iterdir()) == []
    made = load("is_acyclic")
    found = cached("is_acyclic")
    assert found is not None
    assert found.fingerprint == made.fingerprint
    assert cached("is_acyclic", seed=1) is None


def test_nothing_is_fetched_nor_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[str] = []

    def urlopen(url: str, **_: object) -> None:
        asked.append(url)
        raise OSError("no route to host")

    monkeypatch.setenv("GNNINTERPRETER_CACHE", str(tmp_path))
    monkeypatch.delenv("GNNINTERPRETER_DATA", raising=False)
    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    monkeypatch.setattr("gnninterpreter.datasets.rome.NUM_GRAPHS", 20)
    assert cached("motif") is None
    assert not asked
    load("color_consistency", base="synthetic")
    assert cached("color_consistency") is not None
    assert not asked
    assert not caplog.records
