"""``gnninterpreter demo``: the whole way once, with nothing to prepare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnninterpreter.cli.answering import Answer
from gnninterpreter.cli.explain import explain
from gnninterpreter.cli.options import Iterations, Json, Overwrite, Quiet, Restarts, Seed

MODEL = "shape"


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the run and its report.html.")
    ] = Path("demo"),
    overwrite: Overwrite = False,
    restarts: Restarts = 8,
    seed: Seed = 0,
    iterations: Iterations = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> Answer:
    """Explain the bundled Shape classifier and write a report.

    The classifier tells lollipops, wheels, grids and stars from other graphs. For each of them the
    report has a prototype, the core with its figures, real graphs, and shortcuts that fool the
    model. Model and graphs come with the package, so this needs no network; it takes about two
    minutes on a laptop.

    For example:

    - `gnninterpreter demo`
    - `gnninterpreter demo --out elsewhere --seed 1`
    """
    return explain(
        MODEL,
        data=MODEL,
        out=out,
        overwrite=overwrite,
        restarts=restarts,
        seed=seed,
        iterations=iterations,
        quiet=quiet,
        as_json=as_json,
    )
