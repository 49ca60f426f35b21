"""``gnninterpreter paper``: repeat the paper's evaluation."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from gnninterpreter.cli.options import Address, Json, Quiet, workers_of
from gnninterpreter.cli.output import Answer

# The parts of the evaluation by name, known without torch.
Study = Enum(
    "Study",
    {
        "STATISTICS": "statistics", "CLASSIFIERS": "classifiers", "QUANTITATIVE": "quantitative",
        "QUALITATIVE": "qualitative", "MULTIPLE": "multiple", "RANDOM": "random", "XGNN": "xgnn",
        "METRICS": "metrics", "ABLATION": "ablation", "VERIFICATION": "verification",
        "COMPLEXITY": "complexity", "BIAS": "bias", "ALL": "all",
    },
    type=str,
)  # fmt: skip


def paper(
    study: Annotated[Study, typer.Argument(help="Which part of the evaluation.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for tables and figures.")] = Path(
        "paper"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version: all in ten minutes on two cores.")
    ] = False,
    seed: Annotated[int, typer.Option(help="First of the seeds.")] = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Draw again what is already there.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes that compute, one thread each.")] = 1,
    address: Address = None,
    any_version: Annotated[
        bool,
        typer.Option(
            "--any-version", help="Also use values computed with other versions of torch and such."
        ),
    ] = False,
    list_only: Annotated[
        bool, typer.Option("--list", help="List what there is to compute, and stop.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> Answer:
    """Repeat the evaluation of the paper, with its figures beside ours.

    Every table comes as CSV, JSON and Markdown, every figure as SVG. Work is done in small pieces,
    whose values are kept in `DIR/cache`: a run that was interrupted goes on where it was, and what
    is there is not done again, unless something it depends on has changed, code included.

    For example:

    - `gnninterpreter paper all --quick --jobs 2 --out results`
    - `gnninterpreter paper all --list`
    - `gnninterpreter paper verification --out results`
    """
    from gnninterpreter.experiments.paper import STUDIES, Settings, run
    from gnninterpreter.experiments.paper.compute import CACHE, list_computations
    from gnninterpreter.experiments.store import Store

    wanted = STUDIES if study is Study.ALL else (study.value,)
    if list_only:
        store = Store(out / CACHE, any_version)
        listed = list_computations(wanted, Settings(quick, seed), store)
        return Answer(lambda: listed, lambda: typer.echo("\n".join(listed)))

    def say(line: str) -> None:
        if not quiet:
            typer.echo(line, err=True)

    tables = run(
        wanted,
        out,
        quick=quick,
        seed=seed,
        fresh=fresh,
        jobs=workers_of(jobs, address),
        any_version=any_version,
        say=say,
    )
    return Answer(
        lambda: {"results": str(out.resolve()), "tables": [table.to_json() for table in tables]},
        lambda: typer.echo("\n".join(table.to_markdown() for table in tables)),
        {"results": out},
    )
