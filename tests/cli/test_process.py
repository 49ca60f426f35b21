"""The command as a process of its own: exit codes, streams and signals as a shell sees them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from .conftest import HERE, OWN, QUICK

COMMAND = (sys.executable, "-m", "gnninterpreter")


def test_json_document(environment, tmp_path):
    done = subprocess.run(
        [*COMMAND, "explain", *OWN, *QUICK, "--json", "--out", str(tmp_path / "run")],
        capture_output=True,
        text=True,
        env=environment,
        cwd=HERE,
        timeout=120,
        check=True,
    )
    assert len(json.loads(done.stdout)["classes"]) == 2
    names = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert names[:2] == ["report.html", "run.json"]
    assert [name.partition("-")[0] for name in names[2:]] == ["tensors"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c(environment, interruptible, tmp_path):
    running = subprocess.Popen(
        [*COMMAND, "explain", "shape", "--restarts", "64", "--out", str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=HERE,
    )
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("  relaxation"):
            break
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()
