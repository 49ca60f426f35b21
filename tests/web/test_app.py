"""What the server answers, and what it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import httpx
import networkx as nx
import pytest
import torch

import gnninterpreter as gi
from gnninterpreter.errors import MissingExtraError, ModelError
from gnninterpreter.models.classifier import Scores
from gnninterpreter.models.task import Task
from gnninterpreter.search import Recipe
from gnninterpreter.web import Backend, create_app
from gnninterpreter.web import app as server
from gnninterpreter.web.app import ASSETS, d3_script
from tests.tiny import MeanDegree
from tests.web.conftest import TRIANGLE

QUICK = Recipe.auto(iterations=1).without(
    "anneal", "local search", "iterated search", "calibrate", "shortcuts"
)


def refusal(response: Any, status: int) -> str:
    assert response.status_code == status, response.text
    said = response.json()["error"]
    assert said
    return str(said)


def test_the_page_asks_for_nothing_outside(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert set(re.findall(r'(?:src|href)="(/[^"]+)"', page.text)) == {
        "/library/d3.js",
        "/report",
        *(f"/assets/{name}" for name in ASSETS),
    }
    for name, kind in ASSETS.items():
        answer = client.get(f"/assets/{name}")
        assert answer.headers["content-type"].startswith(kind)
        assert not re.search("https?://", answer.text)


def test_the_drawing_library_comes_from_an_installed_package(client: httpx.Client) -> None:
    answer = client.get("/library/d3.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.text == d3_script().read_text(encoding="utf-8")
    assert "d3js.org v5" in answer.text[:100]
    assert "site-packages" in str(d3_script()) or "gnninterpreter" not in str(d3_script())


@pytest.mark.parametrize("found", [None, SimpleNamespace(submodule_search_locations=["/nowhere"])])
def test_without_the_package_the_message_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, backend: Backend, found: Any
) -> None:
    monkeypatch.setattr(server, "find_spec", lambda _: found)
    with pytest.raises(MissingExtraError, match=r"'mpld3'.*pip install 'gnninterpreter\[web\]'"):
        create_app(backend)


def test_the_state_describes_features_and_graphs(client: httpx.Client) -> None:
    state = client.get("/api/state").json()
    assert state["classes"] == ["sparse", "<b>dense</b>"]
    assert state["nodes"][0]["names"] == ["red", "green", "blue"]
    for entry in state["graphs"]:
        assert len(entry["positions"]) == len(entry["graph"]["nodes"])


def test_the_report_is_there_as_well(client: httpx.Client) -> None:
    page = client.get("/report")
    assert "Random graphs" in page.text
    assert "&lt;b&gt;dense&lt;/b&gt;" in page.text
    assert client.get("/report").text == page.text


def test_scores(client: httpx.Client) -> None:
    answer = client.post("/api/score", json=TRIANGLE).json()
    assert answer["values"] == [0.5, 0.5]
    assert (answer["nodes"], answer["edges"], answer["ignored"]) == (3, 3, 0)


def test_where_there_is_no_rule_there_is_no_truth(client: httpx.Client) -> None:
    assert client.get("/api/state").json()["rule"] is False
    assert client.post("/api/truth", json=TRIANGLE).json() == {"truth": None}
    assert refusal(client.post("/api/truth", json={"nodes": [[9]], "edges": []}), 422)


def test_a_rule_that_fails_is_no_answer(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "oracle", lambda _: 1 // 0)
    assert backend.truth(TRIANGLE) is None
    monkeypatch.setattr(backend, "oracle", lambda _: 0)
    assert backend.truth(TRIANGLE) == "sparse"


def test_nodes_without_edges_do_not_count(client: httpx.Client) -> None:
    graph = {"nodes": [[0], *TRIANGLE["nodes"]], "edges": [[1, 2], [2, 3], [1, 3]]}
    answer = client.post("/api/score", json=graph).json()
    assert answer["values"] == [0.5, 0.5]
    assert answer["ignored"] == 1
    empty = client.post("/api/score", json={"nodes": [[0]], "edges": []}).json()
    assert empty["values"] is None


def test_a_bundled_model_tells_similarities_and_the_truth(tmp_path: Path) -> None:
    bundle = gi.models.load("motif")
    run = gi.explain(
        bundle,
        targets="complete-5",
        restarts=1,
        recipe=QUICK,
        progress=False,
    )
    backend = Backend(run, tmp_path, bundle)
    ring = {"nodes": [[i % 5] for i in range(50)], "edges": [[i, (i + 1) % 50] for i in range(50)]}
    answer = backend.score(ring)
    assert len(answer["similarities"]) == 5
    assert backend.truth(ring) == "others"
    assert backend.truth({"nodes": [[0]], "edges": []}) is None


def test_layout(client: httpx.Client) -> None:
    answer = client.post("/api/layout", json={**TRIANGLE, "nodes": [[None], [1], [2]]}).json()
    assert answer["graph"] == TRIANGLE
    positions = answer["positions"]
    assert len(positions) == 3
    assert all(0 <= x <= 720 and 0 <= y <= 480 for x, y in positions)


@pytest.mark.parametrize("form", ["svg", "graphml", "json"])
def test_export(client: httpx.Client, form: str) -> None:
    text = client.post(f"/api/export/{form}", json=TRIANGLE).text
    if form == "svg":
        assert ElementTree.fromstring(text).tag.endswith("svg")
    elif form == "graphml":
        assert nx.parse_graphml(text).number_of_edges() == 3
    else:
        assert json.loads(text) == TRIANGLE


def test_a_drawing_is_exported_as_it_was_arranged(client: httpx.Client) -> None:
    places = [[0, 0], [100, 0], [0, 50]]
    text = client.post("/api/export/svg", json={**TRIANGLE, "positions": places}).text
    found = re.findall(r"translate\(([\d.]+) ([\d.]+)\)", text)
    (x0, y0), (x1, y1), (x2, y2) = [(float(x), float(y)) for x, y in found]
    assert (y0, x0) == (y1, x2)
    assert (x1 - x0) == pytest.approx(2 * (y2 - y0), rel=0.01)


@pytest.mark.parametrize(
    "places", [7, [], [[0, 0]] * 2, [[0, "a"]] * 3, [[0]] * 3, [[0, True]] * 3]
)
def test_places_that_are_none(client: httpx.Client, places: Any) -> None:
    assert refusal(client.post("/api/export/svg", json={**TRIANGLE, "positions": places}), 422)


def test_export_refuses(client: httpx.Client) -> None:
    assert "only molecules have" in refusal(client.post("/api/export/smi", json=TRIANGLE), 422)
    assert "one of" in refusal(client.post("/api/export/exe", json=TRIANGLE), 422)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ({"nodes": [[9]], "edges": []}, "from 0 to 2"),
        ({"nodes": [[0]] * 10_000, "edges": []}, "at most 300 nodes"),
        ({"nodes": [[0], [0]], "edges": [[0, 0]]}, "to itself"),
        ("graph", "an object"),
        (7, "an object"),
    ],
)
def test_graphs_that_the_spec_cannot_express(client: httpx.Client, graph: Any, said: str) -> None:
    assert said in refusal(client.post("/api/score", json=graph), 422)
    assert client.post("/api/score", json=TRIANGLE).status_code == 200


@pytest.mark.parametrize("body", ["{", "", "[1,", '{"nodes": NaN}', "[" * 100_000, "\ud800"])
def test_malformed_json(client: httpx.Client, body: str) -> None:
    sent = body.encode("utf-8", "surrogatepass")
    headers = {"content-type": "application/json"}
    assert refusal(client.post("/api/score", content=sent, headers=headers), 400)
    assert client.post("/api/score", json=TRIANGLE).status_code == 200


def test_only_json_and_not_too_much_of_it(client: httpx.Client) -> None:
    assert refusal(
        client.post("/api/score", content="{}", headers={"content-type": "text/plain"}), 415
    )
    huge = json.dumps({"nodes": [[0]] * 400_000, "edges": []})
    headers = {"content-type": "application/json"}
    assert refusal(client.post("/api/score", content=huge, headers=headers), 413)


@pytest.mark.parametrize(
    "path",
    [
        "/library/..%2fmpld3.js",
        "/assets/../app.py",
        "/assets/..%2fapp.py",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/run.json",
        "/api/searches/..%2f..%2fx/events",
        "/docs",
        "/openapi.json",
        "/api/real/one",
    ],
)
def test_paths_outside(client: httpx.Client, path: str) -> None:
    assert refusal(client.get(path), 404)


EMPTY: dict[str, Any] = {"nodes": [], "edges": []}
HUGE = 10**399
FORMS = ("json", "graphml", "svg", "smi")
PATHS = ("/api/score", "/api/truth", "/api/layout", *(f"/api/export/{form}" for form in FORMS))


@pytest.mark.parametrize("path", PATHS)
def test_an_empty_graph_is_answered(client: httpx.Client, path: str) -> None:
    status = 422 if path.endswith("smi") else 200
    assert client.post(path, json=EMPTY).status_code == status
    if path == "/api/layout":
        assert client.post(path, json=EMPTY).json() == {"graph": EMPTY, "positions": []}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "graph",
    [
        {"nodes": [[HUGE]], "edges": []},
        {"nodes": [[0]], "edges": [[0, HUGE]]},
        {"nodes": [[0]], "edges": [], "y": HUGE},
        {**TRIANGLE, "\ud800": 1},
        {"nodes": [["\ud800"]], "edges": []},
        {"nodes": [[[[[]]]]], "edges": [{}]},
    ],
)
def test_odd_graphs_are_refused(client: httpx.Client, path: str, graph: Any) -> None:
    sent = json.dumps(graph)
    headers = {"content-type": "application/json"}
    assert refusal(client.post(path, content=sent, headers=headers), 422)


@pytest.mark.parametrize("number", [HUGE, -HUGE, 1e308, 10_000_000])
def test_places_beyond_every_screen_are_refused(client: httpx.Client, number: float) -> None:
    graph = {**TRIANGLE, "positions": [[0, 0], [1, number], [1, 1]]}
    assert "must be a number from" in refusal(client.post("/api/export/svg", json=graph), 422)


@pytest.mark.parametrize(
    ("task", "values"),
    [
        (Task.MULTICLASS, [0.880797, 0.119203]),
        (Task.MULTILABEL, [0.880797, 0.5]),
        (Task.REGRESSION, [2.0, 0.0]),
    ],
)
def test_outputs_are_read_as_the_task_says(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, task: Task, values: list[float]
) -> None:
    given = Scores(torch.tensor([[2.0, 0.0]]), torch.ones(1, 3), task)
    monkeypatch.setattr(backend.classifier, "score_data", lambda _: given)
    answer = backend.score(TRIANGLE)
    assert answer["values"] == pytest.approx(values)
    assert answer["task"] == task.value


def test_a_fault_of_the_server_is_a_sentence_too(
    client: httpx.Client, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "placed", lambda _: 1 // 0)
    answer = client.post("/api/layout", json=TRIANGLE)
    assert "ZeroDivisionError" in refusal(answer, 500)
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_wrong_method(client: httpx.Client) -> None:
    assert refusal(client.get("/api/score"), 405)


def test_a_model_that_raises(client: httpx.Client) -> None:
    ring = {"nodes": [[0]] * 12, "edges": [[i, (i + 1) % 12] for i in range(12)]}
    assert "RuntimeError: too much for me" in refusal(client.post("/api/score", json=ring), 422)
    assert client.post("/api/score", json=TRIANGLE).status_code == 200


def test_the_run_folder_itself_tells_similarities(tmp_path: Path) -> None:
    bundle = gi.models.load("shape")
    run = gi.explain(bundle, targets=0, restarts=1, recipe=QUICK, progress=False)
    run.save(tmp_path)
    # Neither a bundle nor data: only the model and the folder.
    alone = Backend(gi.load(tmp_path), tmp_path, bundle.model)
    ring = {"nodes": [[None]] * 5, "edges": [[i, (i + 1) % 5] for i in range(5)]}
    assert (
        alone.score(ring)["similarities"]
        == Backend(run, tmp_path, bundle).score(ring)["similarities"]
    )


def test_statistics_of_another_embedding_are_not_used(tmp_path: Path) -> None:
    bundle = gi.models.load("shape")
    run = gi.explain(bundle, targets=0, restarts=1, recipe=QUICK, progress=False)
    for mean in (bundle.statistics.mean_embedding.flip(0), torch.zeros(5, 3)):
        other = replace(run, statistics=replace(bundle.statistics, mean_embedding=mean))
        assert Backend(other, tmp_path, bundle.model).statistics is None


def test_another_model_is_not_taken_for_the_run(backend: Backend, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not the model that the run explains"):
        Backend(backend.result, tmp_path, MeanDegree(3, slope=-4.0))


def test_cores_and_shortcuts_can_be_opened_under_their_names(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next(iter(backend.result.values()))
    for name, found in (("cores", [0.98]), ("shortcuts", [0.999, 0.997])):
        listed = [
            SimpleNamespace(graph=first.best, probability=p, said=f"{p:.3f}", open=(), free=())
            for p in found
        ]
        monkeypatch.setitem(vars(first), name, listed)
    monkeypatch.setattr(backend, "_opened", None)
    entries = backend.describe()["graphs"][-3:]
    monkeypatch.setattr(backend, "_opened", None)
    assert [(entry["name"], entry["score"]) for entry in entries] == [
        (f"{first.name}: core", "0.980"),
        (f"{first.name}: shortcut 1", "0.999"),
        (f"{first.name}: shortcut 2", "0.997"),
    ]
