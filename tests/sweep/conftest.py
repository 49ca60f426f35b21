"""A sweep of cheap but real jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from .lab import checkpoint

pytest.importorskip("pyarrow", reason="sweeps need the extra 'sweep'")

FILE = """
models = [{{ model = "tests.sweep.lab:load", checkpoints = ["*.pt"] }}]
data = "tests.sweep.lab:graphs"
targets = ["class 1"]
seeds = {seeds}
restarts = 1

[[recipes]]
base = "certain"
name = "tiny"
without = ["gradient", "local search", "iterated search", "calibrate"]
"""


def write_file(folder: Path, seeds: int, checkpoints: int = 1) -> Path:
    """A sweep file beside its checkpoints."""
    for number in range(checkpoints):
        checkpoint(folder / f"w{number}.pt", 1.0 + number)
    path = folder / "sweep.toml"
    path.write_text(FILE.format(seeds=seeds), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_file(tmp_path, seeds=2)
