"""``gnninterpreter serve`` as a process of its own."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import HERE, OWN, QUICK, Answer, cli, environment
from tests.web.conftest import TRIANGLE

__all__ = ["cli", "environment"]


@pytest.fixture
def run(cli: Callable[..., Answer], tmp_path: Path) -> Path:
    assert cli("explain", *OWN, *QUICK, "--quiet", "--out", tmp_path / "run")[0] == 0
    return tmp_path / "run"


def test_a_served_run_answers(run: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "gnninterpreter", "serve", str(run), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--model", "lab:model", "--data", "lab:graphs"],
        cwd=HERE,
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert found is not None
        plain = {"nodes": [[None]] * 3, "edges": TRIANGLE["edges"]}
        answer = httpx.post(f"{found[0]}/api/score", json=plain, timeout=60).json()
        assert len(answer["values"]) == len(answer["similarities"]) == 2
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_what_has_to_be_mended(cli: Callable[..., Answer], run: Path) -> None:
    code, _, err = cli("serve", run)
    assert code == 2
    assert "name it with --model" in err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = cli(
            "serve", run, "--model", "lab:model", "--data", "lab:graphs", "--port", port
        )
    assert code == 2
    assert "choose another --port" in err
