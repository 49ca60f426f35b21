"""Killed at a rename, a command ends the same when it is given again; `make kills` does more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = Path(__file__).parent.parent / "benchmarks" / "kills.py"
COMMANDS = ("explain", "audit", "bench")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.slow
def test_a_killed_command_ends_the_same(tmp_path: Path) -> None:
    out = tmp_path / "kills.json"
    given = [*COMMANDS, "--renames", "1", "--moments", "0", "--out", str(out)]
    done = subprocess.run(
        [sys.executable, str(KILLS), *given],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found = json.loads(out.read_text())
    assert [found[name]["killed at a rename"] for name in COMMANDS] == [1, 1, 1]
    assert all(found[name]["renames"] > 1 for name in COMMANDS)
