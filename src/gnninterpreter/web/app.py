"""The server of the live page: what can be asked, and how each answer looks."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Callable
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from gnninterpreter.errors import GNNInterpreterError, MissingExtraError, needs
from gnninterpreter.explanation import Explanation
from gnninterpreter.report.drawing import small_svg
from gnninterpreter.report.templates import asset as report_asset
from gnninterpreter.report.templates import page_script
from gnninterpreter.web.backend import Backend
from gnninterpreter.web.searches import PICTURE, BusyError, LiveSearch, LiveSearches

with needs("fastapi", "web", "the live page"):
    from fastapi import Depends, FastAPI, Request, Response
    from fastapi.concurrency import run_in_threadpool
    from fastapi.responses import StreamingResponse
    from starlette.exceptions import HTTPException

    from gnninterpreter.web.guard import (
        HEADERS,
        Guard,
        is_loopback,
        json_answer,
        policy,
        read_json,
    )

Sent = Annotated[Any, Depends(read_json)]
"""The JSON that a request brings."""
SHARED = "files.js"  # with the report
SCRIPTS = ("talk.js", "board.js", "charts.js", "editor.js", "inspector.js", "search.js", "live.js")
ASSETS = {"live.css": "text/css"} | dict.fromkeys((SHARED, *SCRIPTS), "text/javascript")
POLL = 0.1
# D3 as the wheel of mpld3 ships it, in one plain file (BSD licence): so no foreign source is kept
# here, and nothing is fetched from the network when the page opens.
PACKAGE, FILE = "mpld3", "js/d3.v5.min.js"


def create_app(backend: Backend, host: str = "127.0.0.1") -> FastAPI:
    """Make the server of a run, for the address it will listen on.

    Its ``state`` holds the ``searches``, and the ``token`` that whoever asks has to know; that is
    None where only this machine can ask.
    """
    # No generated documentation: its pages load scripts from elsewhere.
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.token = None if is_loopback(host) else secrets.token_urlsafe(16)
    app.state.searches = LiveSearches(backend)
    app.add_middleware(Guard, host=host, token=app.state.token)
    _answer_errors(app)
    _add_pages(app, backend, app.state.searches)
    _add_graphs(app, backend)
    _add_searches(app, backend, app.state.searches)
    return app


def _answer_errors(app: FastAPI) -> None:
    """Every refusal is a status and one sentence."""

    @app.exception_handler(GNNInterpreterError)
    async def mend(_: Request, error: GNNInterpreterError) -> Response:
        return json_answer({"error": str(error)}, 409 if isinstance(error, BusyError) else 422)

    @app.exception_handler(HTTPException)
    async def refuse(_: Request, error: HTTPException) -> Response:
        return json_answer({"error": str(error.detail)}, error.status_code)

    @app.exception_handler(Exception)
    async def fault(_: Request, error: Exception) -> Response:
        # The traceback goes to the terminal. This answer alone does not pass the guard.
        said = f"a fault of the server ({type(error).__name__}); its terminal says more"
        answer = json_answer({"error": said}, 500)
        answer.headers.update(HEADERS)
        return answer


def _add_pages(app: FastAPI, backend: Backend, searches: LiveSearches) -> None:
    library = d3_script().read_text(encoding="utf-8")

    @app.get("/")
    def page() -> Response:
        return Response(_asset("live.html"), media_type="text/html")

    @app.get("/assets/{name}")
    def asset(name: str) -> Response:
        if name not in ASSETS:
            raise HTTPException(404, "there is no such file")
        return Response(_asset(name), media_type=ASSETS[name])

    @app.get("/library/d3.js")
    def d3() -> Response:
        return Response(library, media_type="text/javascript")

    @app.get("/report")
    def report() -> Response:
        # Its script is inside the page, since it also lives on disk: known by its hash.
        headers = {"Content-Security-Policy": policy(_hash(page_script()))}
        return Response(backend.report(), headers=headers, media_type="text/html")

    @app.get("/api/state")
    def state() -> Response:
        running = [{"id": search.id, "name": search.name} for search in searches.running()]
        return json_answer({**backend.describe(), "running": running})


def _add_graphs(app: FastAPI, backend: Backend) -> None:
    def add(name: str, answer: Callable[[Any], Any]) -> None:
        @app.post(f"/api/{name}")
        def ask(values: Sent) -> Response:
            return json_answer(answer(values))

    add("score", lambda values: backend.score(values))
    add("truth", lambda values: {"truth": backend.truth(values)})
    add("look", lambda values: backend.look(values))
    add("layout", lambda values: backend.placed(backend.read(values)))
    add("smiles", lambda values: backend.placed(backend.inspector.read(values)))

    @app.get("/api/real/{number:int}")
    def real(number: int) -> Response:
        return json_answer(backend.placed(backend.inspector.real_graph(number)))

    @app.post("/api/export/{form}")
    def export(form: str, values: Sent) -> Response:
        text, kind = backend.export(values, form)
        return Response(text, media_type=kind)


def _add_searches(app: FastAPI, backend: Backend, searches: LiveSearches) -> None:
    def found(number: str) -> LiveSearch:
        search = searches.find(number)
        if search is None:
            raise HTTPException(404, "there is no such search")
        return search

    @app.post("/api/searches")
    def start(values: Sent) -> Response:
        search = searches.start(values)
        return json_answer({"id": search.id, "name": search.name}, 201)

    @app.get("/api/searches/{number}/events")
    def events(number: str) -> Response:
        return StreamingResponse(_events(found(number), backend), media_type="text/event-stream")

    @app.post("/api/searches/{number}/stop")
    def stop(number: str) -> Response:
        found(number).stop()
        return json_answer({"stopping": True})

    @app.post("/api/searches/{number}/save")
    def save(number: str) -> Response:
        return json_answer({"saved": searches.save(found(number))})


async def _events(search: LiveSearch, backend: Backend) -> AsyncIterator[str]:
    """Tell every snapshot once, and in the end what came out."""
    told = 0
    warned = False
    while True:
        running = search.state == "running"
        if running and search.stopping and not warned:
            warned = True
            yield _event("stopping", {})
        while told < len(search.snapshots):
            yield _event("snapshot", search.snapshots[told])
            told += 1
        if not running:
            break
        await asyncio.sleep(POLL)
    last: dict[str, Any] = {"state": search.state, "error": search.error}
    if search.explanation is not None:
        last |= await run_in_threadpool(_outcome, search.explanation, backend)
    yield _event("end", last)


def _outcome(explanation: Explanation, backend: Backend) -> dict[str, Any]:
    said = {
        "score": explanation.measured,
        "reason": explanation.reason,
        "verdict": explanation.verdict.to_json(),
        "notes": explanation.notes,
    }
    if not explanation.num_edges:
        return said
    svg = small_svg(explanation.graph, backend.spec, PICTURE)
    return {**said, "opened": backend.opened(explanation), "svg": svg}


def _event(name: str, values: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(values)}\n\n"


def _hash(script: str) -> str:
    """A script inside a page, as a policy names it: with the line breaks around it."""
    digest = hashlib.sha256(f"\n{script}\n".encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _asset(name: str) -> str:
    if name == SHARED:
        return report_asset(name)
    folder = resources.files("gnninterpreter.web") / "assets"
    text = (folder / name).read_text(encoding="utf-8")
    # The live page looks like the report, and adds to it.
    return report_asset("page.css") + text if name == "live.css" else text


def d3_script() -> Path:
    """The page's drawing library on this machine."""
    # Found without importing the package, which would load matplotlib for nothing.
    found = find_spec(PACKAGE)
    folders = [] if found is None else list(found.submodule_search_locations or [])
    for folder in folders:
        script = Path(folder) / FILE
        if script.is_file():
            return script
    raise MissingExtraError("the live page", PACKAGE, "web")
