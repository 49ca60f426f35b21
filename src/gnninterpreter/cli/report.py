"""``gnninterpreter report``: write the report of a stored run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["report"]


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)],
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="The model that was explained, as for `explain`: the report then also has what "
            "only the model can say. A bundled model is found by itself.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="The labelled graphs, as for `explain`: adds the nearest real graphs.",
            show_default=False,
        ),
    ] = None,
    forward: Annotated[
        str | None,
        typer.Option(
            metavar="FUNCTION",
            help="package.module:name of a function forward(model, data).",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to.", show_default="report.html in RUN"),
    ] = None,
) -> None:
    """Write the report of a run: one self-contained HTML file.

    For example:

    - `gnninterpreter report run`
    - `gnninterpreter report run --model mylab.models:trained --data mylab.data:graphs`
    """
    from gnninterpreter.cli.output import REPORT
    from gnninterpreter.cli.references import load_data, load_forward, load_run_model
    from gnninterpreter.cli.threads import use_threads
    from gnninterpreter.explanation import load_run

    use_threads(1)
    result = load_run(run)
    dataset = None if data is None else load_data(data)
    call = None if forward is None else load_forward(forward)
    found = load_run_model(result, model, dataset)
    written = result.report(out or run / REPORT, found, dataset, forward=call)
    typer.echo(f"report: {written.resolve()}")
