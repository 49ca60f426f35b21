"""``gnninterpreter demo``: the whole way once, with nothing to prepare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnninterpreter.cli.options import Iterations, Json, Overwrite, Quiet, Restarts

__all__ = ["demo"]

MODEL = "shape"


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the run and its report.html.")
    ] = Path("demo"),
    overwrite: Overwrite = False,
    restarts: Restarts = 8,
    seed: Annotated[int, typer.Option(help="The same seed gives the same explanations.")] = 0,
    iterations: Iterations = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Explain the bundled Shape classifier and write a report.

    The classifier tells lollipops, wheels, grids and stars from other graphs. For each of them the
    report has a prototype, the core with its figures, real graphs, and shortcuts that fool the
    model. Model and graphs come with the package, so this needs no network; it takes about two
    minutes on a laptop.

    For example:

    - `gnninterpreter demo`
    - `gnninterpreter demo --out elsewhere --seed 1`
    """
    from gnninterpreter.cli.output import (
        check_output,
        echo_json,
        echo_table,
        with_graphs,
        write_output,
    )

    check_output(out, overwrite)
    from gnninterpreter import api, datasets
    from gnninterpreter.cli.progress import LiveProgress
    from gnninterpreter.cli.threads import use_threads
    from gnninterpreter.models import load
    from gnninterpreter.search import Recipe

    use_threads(1)
    model, graphs = load(MODEL), datasets.load(MODEL)
    result = api.explain(
        model,
        graphs,
        restarts=restarts,
        seed=seed,
        recipe="auto" if iterations is None else Recipe.auto(iterations=iterations),
        progress=False if quiet else LiveProgress(transient=True),
        resume=out,
    )
    report = write_output(result, out, overwrite, model, graphs)
    if as_json:
        echo_json(with_graphs(result))
    else:
        echo_table(result)
    typer.echo(f"report: {report.resolve()}", err=as_json)
