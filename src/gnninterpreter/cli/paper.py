"""``gnninterpreter paper``: repeat the paper's evaluation."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Study", "paper"]


class Study(str, Enum):
    """The parts of the evaluation."""

    STATISTICS = "statistics"
    CLASSIFIERS = "classifiers"
    QUANTITATIVE = "quantitative"
    QUALITATIVE = "qualitative"
    MULTIPLE = "multiple"
    RANDOM = "random"
    XGNN = "xgnn"
    ABLATION = "ablation"
    VERIFICATION = "verification"
    COMPLEXITY = "complexity"
    BIAS = "bias"
    ALL = "all"


def paper(
    study: Annotated[
        Study, typer.Argument(help="Which part of the evaluation.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for tables and figures.")] = Path(
        "paper"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version: all in ten minutes on two cores.")
    ] = False,
    seed: Annotated[int, typer.Option(help="First of the seeds.")] = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run again what is already there.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Repeat the evaluation of the paper, with its figures beside ours.

    Every table comes as CSV, JSON and Markdown, every figure as SVG, and as PNG where matplotlib is
    installed. A run that was interrupted goes on where it was; what is there with the same inputs
    is not done again.

    For example:

    - `gnninterpreter paper all --quick --out results`
    - `gnninterpreter paper verification --out results`
    """
    from gnninterpreter.cli.threads import use_threads
    from gnninterpreter.paper import STUDIES, run

    use_threads(1)
    wanted = STUDIES if study is Study.ALL else (study.value,)

    def say(line: str) -> None:
        if not quiet:
            typer.echo(line, err=True)

    tables = run(wanted, out, quick=quick, seed=seed, fresh=fresh, say=say)
    for table in tables:
        typer.echo(table.to_markdown())
    typer.echo(f"results: {out.resolve()}")
