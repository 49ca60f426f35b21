"""What is done with a stored run: ``gnninterpreter report`` and ``gnninterpreter serve``."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated

import typer

from gnninterpreter.cli import options
from gnninterpreter.cli.output import INTERRUPTED, REPORT, Answer
from gnninterpreter.errors import ModelError, OutputError

GRACE = 5.0
"""Seconds that searches have to end when the server does."""


def serve(
    run: options.Run,
    model: Annotated[str | None, options.explained_model()] = None,
    data: Annotated[
        str | None, options.labelled_graphs(": adds similarities and the rule of the data set.")
    ] = None,
    forward: options.Forward = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; where others reach it, they need the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
) -> None:
    """Open a run with its model behind it: edit graphs by hand and watch explanations form.

    For example:

    - `gnninterpreter serve demo`
    - `gnninterpreter serve run --model mylab.models:trained --data mylab.data:graphs`
    """
    from gnninterpreter.web import Backend, create_app, make_server

    result, found, dataset, call = options.opened_run(run, model, data, forward)
    if found is None:
        raise ModelError(
            f"{run} does not hold the model {result.model_name!r} itself; name it with --model"
        )
    backend = Backend(result, run, found, dataset, forward=call)
    app = create_app(backend, host)
    listener = _listen(host, port)
    name = f"[{host}]" if ":" in host else host
    asked = f"?token={app.state.token}" if app.state.token else ""
    typer.echo(f"open http://{name}:{listener.getsockname()[1]}/{asked}  (Ctrl-C ends it)")
    ended = False
    try:
        make_server(app).run(sockets=[listener])
    finally:
        listener.close()
        try:
            ended = app.state.searches.close(GRACE) and backend.idle(GRACE)
        finally:
            if not ended:
                # A model that goes on computing while Python shuts down would abort the process.
                os._exit(INTERRUPTED)


def _listen(host: str, port: int) -> socket.socket:
    """Take the port, and queue whoever comes, before anything is said about it.

    A script that reads the address connects at once, and the server's own start takes a moment.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise OutputError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another --port or --host"
        ) from error


def report(
    run: options.Run,
    model: Annotated[
        str | None, options.explained_model(": the report then also has what only it can say")
    ] = None,
    data: Annotated[str | None, options.labelled_graphs(": adds the nearest real graphs.")] = None,
    forward: options.Forward = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to.", show_default="report.html in RUN"),
    ] = None,
    as_json: options.Json = False,
) -> Answer:
    """Write the report of a run: one self-contained HTML file.

    For example:

    - `gnninterpreter report run`
    - `gnninterpreter report run --model mylab.models:trained --data mylab.data:graphs`
    """
    from gnninterpreter.arguments import page_of

    if out is not None:
        page_of("--out", out)
    result, found, dataset, call = options.opened_run(run, model, data, forward)
    written = result.report(out or run / REPORT, found, dataset, forward=call)
    return Answer(
        lambda: {"report": str(written.resolve()), **result.summary()}, files={"report": written}
    )
