"""``gnninterpreter report``: write the report of a stored run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnninterpreter.cli.options import (
    Forward,
    Json,
    Run,
    explained_model,
    labelled_graphs,
    opened_run,
)
from gnninterpreter.parallel import limit_threads


def report(
    run: Run,
    model: Annotated[
        str | None, explained_model(": the report then also has what only it can say")
    ] = None,
    data: Annotated[str | None, labelled_graphs(": adds the nearest real graphs.")] = None,
    forward: Forward = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to.", show_default="report.html in RUN"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the report of a run: one self-contained HTML file.

    For example:

    - `gnninterpreter report run`
    - `gnninterpreter report run --model mylab.models:trained --data mylab.data:graphs`
    """
    from gnninterpreter.cli.output import REPORT, echo_json, only_results

    limit_threads(1)
    with only_results(as_json):
        result, found, dataset, call = opened_run(run, model, data, forward)
        written = result.report(out or run / REPORT, found, dataset, forward=call)
    if as_json:
        echo_json({"report": str(written.resolve()), **result.summary()})
    else:
        typer.echo(f"report: {written.resolve()}")
