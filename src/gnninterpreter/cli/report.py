"""``gnninterpreter report``: write the report of a stored run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnninterpreter.cli import options
from gnninterpreter.cli.answering import Answer
from gnninterpreter.cli.output import REPORT


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
    result, found, dataset, call = options.opened_run(run, model, data, forward)
    written = result.report(out or run / REPORT, found, dataset, forward=call)
    return Answer(
        lambda: {"report": str(written.resolve()), **result.summary()}, files={"report": written}
    )
