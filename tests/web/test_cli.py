"""``gnninterpreter serve`` as a process of its own."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import gnninterpreter as gi
from tests.cli import lab
from tests.cli.conftest import HERE, Answer, cli, environment
from tests.web.conftest import TRIANGLE

__all__ = ["cli", "environment"]
pytestmark = pytest.mark.usefixtures("interruptible")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "run"
    quick = gi.Recipe.auto(iterations=5)
    return gi.explain(lab.model, lab.graphs(), restarts=1, recipe=quick, progress=False).save(
        folder
    )


@contextmanager
def served(run: Path, environment: dict[str, str], *options: str) -> Iterator[tuple[Any, str]]:
    """The process, and what it says first."""
    command = [sys.executable, "-m", "gnninterpreter", "serve", str(run), "--port", "0", *options]
    process = subprocess.Popen(
        [*command, "--model", "lab:model", "--data", "lab:graphs"],
        cwd=HERE,
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130


def test_a_served_run_answers_and_hears_ctrl_c_while_a_search_runs(
    run: Path, environment: dict[str, str]
) -> None:
    with served(run, environment) as (_, said):
        found = re.search(r"(http://127\.0\.0\.1:\d+)/ ", said)
        assert found is not None
        plain = {"nodes": [[None]] * 3, "edges": TRIANGLE["edges"]}
        answer = httpx.post(f"{found[1]}/api/score", json=plain, timeout=60).json()
        assert len(answer["values"]) == len(answer["similarities"]) == 2
        long = {"target": 0, "restarts": 8, "iterations": 5000}
        number = httpx.post(f"{found[1]}/api/searches", json=long, timeout=60).json()["id"]
        events = f"{found[1]}/api/searches/{number}/events"
        with httpx.stream("GET", events, timeout=60) as response:
            next(response.iter_lines())


def test_the_address_holds_a_token_where_others_reach_it(
    run: Path, environment: dict[str, str]
) -> None:
    with served(run, environment, "--host", "0.0.0.0") as (_, said):
        found = re.search(r"http://0\.0\.0\.0(:\d+/)(\?token=\S+)", said)
        assert found is not None
        address = f"http://127.0.0.1{found[1]}"
        assert httpx.get(address, timeout=60).status_code == 403
        with httpx.Client(follow_redirects=True, timeout=60) as client:
            assert "Live model" in client.get(address + found[2]).text


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
    assert "choose another --port or --host" in err
