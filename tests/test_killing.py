"""Killed at a rename or at any moment, a command ends the same when it is given again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzzing import FUZZ

ROOT = Path(__file__).parent.parent
# Renames and moments: all of the former and twenty of the latter with ``make fuzz``.
CHEAP = {"explain": (1, 0), "audit": (2, 0), "bench": (1, 0)}
DEAR = dict.fromkeys(
    ("explain", "overwrite", "audit", "train", "bench", "paper", "sweep"), (1000, 20)
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("commands", [{name: DEAR[name]} for name in DEAR] if FUZZ else [CHEAP])
def test_a_killed_command_ends_the_same(commands: dict[str, tuple[int, int]]) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.killing", json.dumps(commands)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert not [found[name]["failures"] for name in commands if found[name]["failures"]]
    assert all(found[name]["renames"] > 1 for name in commands)
