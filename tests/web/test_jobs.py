"""Explanations that run while somebody watches."""

from __future__ import annotations

import json
import math
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

import gnninterpreter as gi
from gnninterpreter.web import Studio
from tests.tiny import RICH, distribution
from tests.web.conftest import TRIANGLE
from tests.web.test_app import refusal

QUICK = {"target": "sparse", "restarts": 1, "iterations": 20}
LONG = {"target": "sparse", "restarts": 2, "iterations": 5000}


def events(client: httpx.Client, number: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    with client.stream("GET", f"/api/jobs/{number}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_start_watch_keep(client: httpx.Client, studio: Studio) -> None:
    outside = files(studio.folder.parent) - files(studio.folder)
    started = client.post("/api/jobs", json=QUICK)
    assert started.status_code == 201
    number = started.json()["id"]
    told = events(client, number)
    assert [name for name, _ in told][-1] == "end"
    looks = [values for name, values in told if name == "look"]
    assert looks
    assert looks[0]["svg"].startswith("<svg")
    end = told[-1][1]
    assert end["state"] == "done"
    assert end["opened"]["graph"]["edges"]
    kept = client.post(f"/api/jobs/{number}/keep", json={}).json()["kept"]
    again = gi.load(studio.folder / kept)
    assert list(again) == ["sparse"]
    assert files(studio.folder.parent) - files(studio.folder) == outside


def test_stop(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from gnninterpreter.web import jobs

    looked = threading.Event()
    whole = jobs.Job.look

    def slowly(self: Any, look: Any) -> bool:
        looked.set()
        time.sleep(0.05)
        return whole(self, look)

    monkeypatch.setattr(jobs.Job, "look", slowly)
    number = client.post("/api/jobs", json=LONG).json()["id"]
    assert looked.wait(60)
    assert client.post(f"/api/jobs/{number}/stop", json={}).json() == {"stopping": True}
    assert events(client, number)[-1][1]["state"] == "stopped"


def test_a_stop_gives_a_result_whatever_the_phase(studio: Studio) -> None:
    from gnninterpreter.web.jobs import Jobs

    jobs = Jobs(studio)
    job = jobs.start(LONG)
    # Asked for before the first look: what comes out is what there was then.
    job.stop()
    deadline = time.monotonic() + 60
    while job.state == "running" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert job.state == "stopped"
    assert job.explanation is not None
    assert len(job.looks) < 10
    assert jobs.running() == []


def test_looks_hold_nothing_that_json_has_no_word_for() -> None:
    from gnninterpreter.search import Look
    from gnninterpreter.web.jobs import Job

    job = Job(1, 0, "sparse")
    seen = Look(
        "walk",
        0,
        10,
        torch.tensor([math.nan, 0.5]),
        torch.tensor([1.0, math.inf]),
        distribution(RICH, 4, restarts=2),
    )
    job.look(seen)
    job.look(seen)
    first, second = job.looks
    assert (first["probability"], first["edges"], first["best"]) == ([None, 0.5], [1.0, None], 1)
    json.dumps(job.looks, allow_nan=False)
    # Drawn at once, and then no more often than an eye can follow.
    assert first["svg"].startswith("<svg")
    assert second["svg"] is None


def test_scores_are_right_while_a_search_goes_on(client: httpx.Client) -> None:
    number = client.post("/api/jobs", json=QUICK).json()["id"]
    for _ in range(10):
        answer = client.post("/api/score", json=TRIANGLE).json()
        assert answer["probabilities"] == [0.5, 0.5]
    assert events(client, number)[-1][1]["state"] == "done"


def test_two_clients_have_searches_of_their_own(client: httpx.Client) -> None:
    numbers = [client.post("/api/jobs", json=QUICK).json()["id"] for _ in range(2)]
    assert len(set(numbers)) == 2
    ends = [events(client, number)[-1][1] for number in numbers]
    assert [end["state"] for end in ends] == ["done", "done"]
    assert ends[0]["opened"]["graph"] == ends[1]["opened"]["graph"]


def test_not_too_many_at_once(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnninterpreter.web.jobs.MOST_RUNNING", 0)
    assert "running already" in refusal(client.post("/api/jobs", json=QUICK), 409)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "which class"),
        ([], "which class"),
        ({"target": "nothing"}, "there is no class"),
        ({"target": None}, "there is no class"),
        ({**QUICK, "restarts": 0}, "restarts must be"),
        ({**QUICK, "restarts": 10**9}, "restarts must be"),
        ({**QUICK, "iterations": "many"}, "iterations must be"),
        ({**QUICK, "seed": True}, "seed must be"),
        ({**QUICK, "out": "/tmp"}, "unknown settings: out"),
    ],
)
def test_bad_settings(client: httpx.Client, values: Any, said: str) -> None:
    assert said in refusal(client.post("/api/jobs", json=values), 422)


def test_nothing_of_that_number(client: httpx.Client) -> None:
    assert refusal(client.get("/api/jobs/999/events"), 404)
    assert refusal(client.post("/api/jobs/999/keep", json={}), 404)
    assert refusal(client.post("/api/jobs/999/stop", json={}), 404)


def test_nothing_to_keep_yet(client: httpx.Client, studio: Studio) -> None:
    from gnninterpreter.errors import DataError
    from gnninterpreter.web.jobs import Job, Jobs

    with pytest.raises(DataError, match="nothing to keep"):
        Jobs(studio).keep(Job(1, 0, "sparse"))


def test_a_search_that_fails_says_so(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of paper")

    monkeypatch.setattr("gnninterpreter.web.jobs.explain", broken)
    number = client.post("/api/jobs", json=QUICK).json()["id"]
    end = events(client, number)[-1][1]
    assert end == {"state": "failed", "error": "RuntimeError: out of paper"}
