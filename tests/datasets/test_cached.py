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
