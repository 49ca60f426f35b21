"""Explanations that run while somebody watches."""

from __future__ import annotations

import json
import math
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import torch

import gnninterpreter as gi
from gnninterpreter.models.frozen import clean_copy
from gnninterpreter.web import Backend
from tests.tiny import RICH, distribution
from tests.web.conftest import TRIANGLE
from tests.web.test_app import refusal

QUICK = {"target": "sparse", "restarts": 1, "iterations": 20}
LONG = {"target": "sparse", "restarts": 2, "iterations": 5000}

ODD: list[Any] = [
    True,
    1.0,
    -1,
    2,
    10**399,
    [],
    {},
    ["sparse"],
    "",
    "0",
    "²",
    "--1",
    "Sparse",
    "\ud800",
]


def events(client: httpx.Client, number: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    with client.stream("GET", f"/api/searches/{number}/events") as response:
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


def test_start_watch_save(client: httpx.Client, backend: Backend) -> None:
    outside = files(backend.folder.parent) - files(backend.folder)
    started = client.post("/api/searches", json=QUICK)
    assert started.status_code == 201
    number = started.json()["id"]
    told = events(client, number)
    assert [name for name, _ in told][-1] == "end"
    snapshots = [values for name, values in told if name == "snapshot"]
    assert snapshots
    assert snapshots[0]["svg"].startswith("<svg")
    end = told[-1][1]
    assert end["state"] == "done"
    assert end["opened"]["graph"]["edges"]
    saved = client.post(f"/api/searches/{number}/save", json={}).json()["saved"]
    again = gi.load(backend.folder / saved)
    assert list(again) == ["sparse"]
    assert files(backend.folder.parent) - files(backend.folder) == outside


def test_stop(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from gnninterpreter.web import searches

    looked = threading.Event()
    whole = searches.LiveSearch.watch

    def slowly(self: Any, snapshot: Any) -> bool:
        looked.set()
        time.sleep(0.05)
        return whole(self, snapshot)

    monkeypatch.setattr(searches.LiveSearch, "watch", slowly)
    number = client.post("/api/searches", json=LONG).json()["id"]
    assert looked.wait(60)
    assert client.post(f"/api/searches/{number}/stop", json={}).json() == {"stopping": True}
    assert events(client, number)[-1][1]["state"] == "stopped"


def test_a_stop_gives_a_result_whatever_the_phase(backend: Backend) -> None:
    from gnninterpreter.web.searches import LiveSearches

    searches = LiveSearches(backend)
    search = searches.start(LONG)
    # Asked for before the first snapshot: what comes out is what there was then.
    search.stop()
    deadline = time.monotonic() + 60
    while search.state == "running" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert search.state == "stopped"
    assert search.explanation is not None
    assert len(search.snapshots) < 10
    assert searches.running() == []


def test_snapshots_hold_nothing_that_json_has_no_word_for() -> None:
    from gnninterpreter.search import Snapshot
    from gnninterpreter.web.searches import LiveSearch

    search = LiveSearch(1, "sparse")
    figures = SimpleNamespace(
        score=torch.tensor([math.nan, 0.5]), edges=torch.tensor([1.0, math.inf])
    )
    seen = Snapshot(
        "walk",
        0,
        10,
        lambda: (figures, distribution(RICH, 4, restarts=2)),  # type: ignore[arg-type, return-value]
    )
    search.watch(seen)
    search.watch(seen)
    first, second = search.snapshots
    assert (first["score"], first["edges"], first["best"]) == ([None, 0.5], [1.0, None], 1)
    json.dumps(search.snapshots, allow_nan=False)
    # Drawn at once, and then no more often than an eye can follow.
    assert first["svg"].startswith("<svg")
    assert second["svg"] is None


def test_what_is_shown_together_is_of_one_state(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnninterpreter.web import searches

    shown: list[tuple[int, float]] = []
    whole = searches.LiveSearch._picture

    def compare(self: Any, snapshot: Any, best: int) -> str | None:
        drawn = snapshot.distribution.select([best]).mode()
        shown.append((int(drawn.num_edges), float(snapshot.edges[best])))
        return whole(self, snapshot, best)

    monkeypatch.setattr(searches.LiveSearch, "_picture", compare)
    live = searches.LiveSearches(backend)
    search = live.start(QUICK)
    assert search.thread is not None
    search.thread.join(60)
    assert shown
    assert all(edges == told for edges, told in shown)


def test_scores_are_right_while_a_search_goes_on(client: httpx.Client) -> None:
    number = client.post("/api/searches", json=QUICK).json()["id"]
    for _ in range(10):
        answer = client.post("/api/score", json=TRIANGLE).json()
        assert answer["values"] == [0.5, 0.5]
    assert events(client, number)[-1][1]["state"] == "done"


def test_a_copy_of_the_model_carries_nothing_that_listens(backend: Backend) -> None:
    # Scoring listens to the model while it runs; every copy made meanwhile used to keep that.
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            backend.score(TRIANGLE)

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    copies = [clean_copy(backend.model) for _ in range(200)]
    ended.set()
    for asker in askers:
        asker.join()
    listening = [
        module
        for copied in copies
        for module in copied.modules()
        if module._forward_hooks or module._forward_pre_hooks
    ]
    assert listening == []


def test_searches_end_with_the_server(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    from gnninterpreter.web.searches import LiveSearches

    searches = LiveSearches(backend)
    search = searches.start(LONG)
    assert searches.close(60)
    assert search.state == "stopped"
    assert search.thread is not None
    search.thread.join(60)
    assert not search.thread.is_alive()
    # One that does not come to its next snapshot in time is told of.
    waiting = threading.Event()
    monkeypatch.setattr("gnninterpreter.web.searches.explain", lambda *_, **__: waiting.wait(60))
    searches.start(QUICK)
    assert not searches.close(0.01)
    waiting.set()


def test_two_clients_have_searches_of_their_own(client: httpx.Client) -> None:
    numbers = [client.post("/api/searches", json=QUICK).json()["id"] for _ in range(2)]
    assert len(set(numbers)) == 2
    ends = [events(client, number)[-1][1] for number in numbers]
    assert [end["state"] for end in ends] == ["done", "done"]
    assert ends[0]["opened"]["graph"] == ends[1]["opened"]["graph"]


def test_not_too_many_at_once(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnninterpreter.web.searches.MOST_RUNNING", 0)
    assert "running already" in refusal(client.post("/api/searches", json=QUICK), 409)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "what to explain"),
        ([], "what to explain"),
        ({"target": "nothing"}, "there is no target"),
        ({"target": None}, "there is no target"),
        *(({"target": odd}, "there is no target") for odd in ODD),
        ({**QUICK, "restarts": 0}, "restarts must be"),
        ({**QUICK, "restarts": 10**9}, "restarts must be"),
        ({**QUICK, "iterations": "many"}, "iterations must be"),
        ({**QUICK, "seed": True}, "seed must be"),
        ({**QUICK, "seed": 10**399}, "seed must be"),
        ({**QUICK, "out": "/tmp"}, "unknown settings: out"),
        ({**QUICK, "\ud800": 1}, "unknown settings: \ud800"),
    ],
)
def test_bad_settings(client: httpx.Client, values: Any, said: str) -> None:
    headers = {"content-type": "application/json"}
    sent = json.dumps(values)
    assert said in refusal(client.post("/api/searches", content=sent, headers=headers), 422)


def test_nothing_of_that_number(client: httpx.Client) -> None:
    assert refusal(client.get("/api/searches/999/events"), 404)
    assert refusal(client.post("/api/searches/999/save", json={}), 404)
    assert refusal(client.post("/api/searches/999/stop", json={}), 404)


def test_nothing_to_save_yet(client: httpx.Client, backend: Backend) -> None:
    from gnninterpreter.errors import DataError
    from gnninterpreter.web.searches import LiveSearch, LiveSearches

    with pytest.raises(DataError, match="nothing to save"):
        LiveSearches(backend).save(LiveSearch(1, "sparse"))


def test_a_search_that_fails_says_so(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of paper")

    monkeypatch.setattr("gnninterpreter.web.searches.explain", broken)
    number = client.post("/api/searches", json=QUICK).json()["id"]
    end = events(client, number)[-1][1]
    assert end == {"state": "failed", "error": "RuntimeError: out of paper"}
