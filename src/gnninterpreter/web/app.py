"""The server of the live page: what can be asked, and how each answer looks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from importlib import resources
from typing import Any

from gnninterpreter.errors import GNNInterpreterError, MissingExtraError
from gnninterpreter.report.page import asset as report_asset
from gnninterpreter.web.d3 import d3_script
from gnninterpreter.web.jobs import BusyError, Job, Jobs, picture
from gnninterpreter.web.studio import Studio

try:
    from fastapi import FastAPI, Request, Response
    from fastapi.concurrency import run_in_threadpool
    from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
    from starlette.exceptions import HTTPException

    from gnninterpreter.web.guard import HEADERS, HostGuard, Refused, read_json
except ImportError as error:
    raise MissingExtraError("the live page", "fastapi", "web") from error

__all__ = ["create_app"]

SCRIPTS = ("talk.js", "board.js", "charts.js", "editor.js", "search.js", "live.js")
ASSETS = {"live.css": "text/css"} | dict.fromkeys(SCRIPTS, "text/javascript")
POLL = 0.1


def create_app(studio: Studio, host: str = "127.0.0.1") -> FastAPI:
    """Make the server.

    Args:
        studio: The run and its model.
        host: The address it will listen on.
    """
    # No generated documentation: its pages load scripts from elsewhere.
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(HostGuard, host=host)
    jobs = Jobs(studio)
    app.state.jobs = jobs
    _answer_errors(app)
    _add_pages(app, studio, jobs)
    _add_graphs(app, studio)
    _add_jobs(app, studio, jobs)
    return app


def _answer_errors(app: FastAPI) -> None:
    """Every refusal is a status and one sentence."""

    @app.exception_handler(GNNInterpreterError)
    async def mend(_: Request, error: GNNInterpreterError) -> Response:
        return _json({"error": str(error)}, 409 if isinstance(error, BusyError) else 422)

    @app.exception_handler(Refused)
    async def refuse(_: Request, error: Refused) -> Response:
        return _json({"error": str(error)}, error.status)

    @app.exception_handler(HTTPException)
    async def missing(_: Request, error: HTTPException) -> Response:
        return _json({"error": str(error.detail)}, error.status_code)


def _add_pages(app: FastAPI, studio: Studio, jobs: Jobs) -> None:
    library = d3_script().read_text(encoding="utf-8")

    @app.get("/")
    async def page() -> Response:
        return HTMLResponse(_asset("live.html"), headers=HEADERS)

    @app.get("/assets/{name}")
    async def asset(name: str) -> Response:
        if name not in ASSETS:
            raise HTTPException(404, "there is no such file")
        return Response(_asset(name), media_type=ASSETS[name], headers=HEADERS)

    @app.get("/library/d3.js")
    async def d3() -> Response:
        return Response(library, media_type="text/javascript", headers=HEADERS)

    @app.get("/report")
    async def report() -> Response:
        # The report has a policy of its own inside, since it also lives on disk.
        return HTMLResponse(await run_in_threadpool(studio.report))

    @app.get("/api/state")
    async def state() -> Response:
        running = [{"id": job.id, "name": job.name} for job in jobs.running()]
        return _json({**await run_in_threadpool(studio.describe), "running": running})


def _add_graphs(app: FastAPI, studio: Studio) -> None:
    @app.post("/api/score")
    async def score(request: Request) -> Response:
        return _json(await run_in_threadpool(studio.score, await read_json(request)))

    @app.post("/api/truth")
    async def truth(request: Request) -> Response:
        return _json({"truth": await run_in_threadpool(studio.truth, await read_json(request))})

    @app.post("/api/layout")
    async def layout(request: Request) -> Response:
        return _json(await run_in_threadpool(studio.place, await read_json(request)))

    @app.post("/api/export/{form}")
    async def export(form: str, request: Request) -> Response:
        graph = await read_json(request)
        text, kind = await run_in_threadpool(studio.export, graph, form)
        return PlainTextResponse(text, media_type=kind, headers=HEADERS)


def _add_jobs(app: FastAPI, studio: Studio, jobs: Jobs) -> None:
    def found(number: str) -> Job:
        job = jobs.find(number)
        if job is None:
            raise HTTPException(404, "there is no such explanation")
        return job

    @app.post("/api/jobs")
    async def start(request: Request) -> Response:
        job = jobs.start(await read_json(request))
        return _json({"id": job.id, "name": job.name}, 201)

    @app.get("/api/jobs/{number}/events")
    async def events(number: str) -> Response:
        return StreamingResponse(
            _events(found(number), studio), media_type="text/event-stream", headers=HEADERS
        )

    @app.post("/api/jobs/{number}/stop")
    async def stop(number: str) -> Response:
        found(number).stop()
        return _json({"stopping": True})

    @app.post("/api/jobs/{number}/keep")
    async def keep(number: str) -> Response:
        return _json({"kept": await run_in_threadpool(jobs.keep, found(number))})


async def _events(job: Job, studio: Studio) -> AsyncIterator[str]:
    """Tell every look once, and in the end what came out."""
    told = 0
    warned = False
    while True:
        running = job.state == "running"
        if running and job.stopping and not warned:
            warned = True
            yield _event("stopping", {})
        while told < len(job.looks):
            yield _event("look", job.looks[told])
            told += 1
        if not running:
            break
        await asyncio.sleep(POLL)
    last: dict[str, Any] = {"state": job.state, "error": job.error}
    if job.explanation is not None:
        explanation = job.explanation
        last |= {
            "probability": str(explanation.probability),
            "reason": explanation.reason,
            "verdict": explanation.verdict.to_json(),
            "notes": explanation.notes,
        }
        if explanation.num_edges:
            last["opened"] = await run_in_threadpool(studio.opened, explanation)
            last["svg"] = await run_in_threadpool(picture, explanation.graph, studio.spec)
    yield _event("end", last)


def _event(name: str, values: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(values)}\n\n"


def _json(values: Any, status: int = 200) -> Response:
    return JSONResponse(values, status, headers=HEADERS)


def _asset(name: str) -> str:
    folder = resources.files("gnninterpreter.web") / "assets"
    text = (folder / name).read_text(encoding="utf-8")
    # The live page looks like the report, and adds to it.
    return report_asset("page.css") + text if name == "live.css" else text
