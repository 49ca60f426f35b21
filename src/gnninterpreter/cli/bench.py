"""``gnninterpreter bench``: measure how well explaining works, from many seeds."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnninterpreter.cli.options import Address, Json, workers_of
from gnninterpreter.cli.output import Answer, plainly, print_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from gnninterpreter.experiments.bench import Printed

bench = typer.Typer(name="bench", help="Measure how well explaining works.", no_args_is_help=True)

Out = Annotated[Path, typer.Option("--out", help="JSON file of rows.")]
Seeds = Annotated[int, typer.Option("--seeds", min=1, help="Seeds 0 to this, less one.")]
RestartsOfEach = Annotated[int, typer.Option("--restarts", min=1, help="Restarts of each run.")]
Models = Annotated[
    str,
    typer.Option(
        "--models",
        help="Names with commas between; `bundled` and `zoo` stand for all of each; your own as "
        "package.module:model@package.module:graphs.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", help="Runs at a time, one process each.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="SVG or PNG file, by class.")]
TableOnly = Annotated[
    bool, typer.Option("--table", help="Only sum up and draw the rows that the file holds.")
]

WIDTH = 160


@bench.command(name="robustness")
@plainly
def robustness(
    out: Out,
    seeds: Seeds = 20,
    restarts: RestartsOfEach = 8,
    models: Models = "bundled",
    recipe: Annotated[str, typer.Option("--recipe", help="`auto` or `paper`.")] = "auto",
    jobs: Jobs = 1,
    address: Address = None,
    plot: Plot = None,
    table: TableOnly = False,
    larger: Annotated[
        Path | None,
        typer.Option(
            "--larger", help="Runs of a search 20 times as large, to show what a model allows."
        ),
    ] = None,
    as_json: Json = False,
) -> Answer:
    """Explain every class of every model from many seeds, and say from which it did not work.

    Can be interrupted and called again: runs that are stored in `cache` beside the file are not
    repeated, unless something they depend on has changed, code included. The file holds the runs
    that were asked for.

    Some models are never sure of a class. What such a model allows is shown by a larger search
    (this command again with 20 times the seeds or restarts, and another `--out`), whose file goes
    to `--larger`: runs that come within 0.005 of its best are then counted beside those that reach
    0.99.
    """
    from gnninterpreter.experiments.charts import seed_chart
    from gnninterpreter.experiments.robustness import BENCH, configs_of
    from gnninterpreter.experiments.robustness.summary import summarize, tables

    searched = [] if larger is None else BENCH.read(larger)
    if table:
        runs = BENCH.read(out)
    else:
        configs = configs_of(models, seeds, restarts, recipe)
        runs, _ = BENCH.measure(configs, out, workers_of(jobs, address), _tell)
    values: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        values.setdefault((run.model, run.target), []).append(run.mean)
    summary = summarize(runs, searched)
    return _answer(summary, partial(tables, summary), plot, lambda: seed_chart(values))


@bench.command(name="realism")
@plainly
def realism(
    out: Out,
    seeds: Seeds = 20,
    restarts: RestartsOfEach = 8,
    models: Models = "bundled",
    method: Annotated[
        str,
        typer.Option(
            "--method", help="With commas: ours, certain, paper, random, xgnn, real; or all."
        ),
    ] = "ours",
    jobs: Jobs = 1,
    address: Address = None,
    plot: Plot = None,
    table: TableOnly = False,
    as_json: Json = False,
) -> Answer:
    """Hold explanations of every class against real graphs and other methods.

    Places under random GINs and PolyGraph's discrepancy are used by no search. Can be interrupted
    and called again. PolyGraph has an environment of its own; see the page on realism in the docs.
    """
    from gnninterpreter.experiments.realism import BENCH, configs_of
    from gnninterpreter.experiments.realism import realism as measure
    from gnninterpreter.experiments.realism.discrepancy import read_discrepancies
    from gnninterpreter.experiments.realism.summary import chart, summarize, tables

    if table:
        rows = BENCH.read(out)
    else:
        configs = configs_of(models, seeds, restarts, method)
        rows = measure(configs, out, workers_of(jobs, address), _tell)
    if not rows:
        typer.echo("no rows: none of the methods has anything to say about these models", err=True)
    summary = summarize(rows, read_discrepancies(out))
    first = "ours" if any(row.method == "ours" for row in rows) else rows[0].method if rows else ""
    told = partial(tables, summary)
    return _answer(summary, told, plot if rows else None, lambda: chart(summary, first))


def _answer(
    summary: pd.DataFrame,
    tables: Callable[[], Printed],
    plot: Path | None,
    draw: Callable[[], Figure],
) -> Answer:
    """A summary, and as text its tables."""
    files = {}
    if plot is not None:
        from gnninterpreter.experiments.charts import save

        save(draw(), plot)
        files["plot"] = plot

    def show() -> None:
        frames, columns, lines = tables()
        how = list(columns.values())
        headings = {"class": "left", **dict.fromkeys(columns, "right")}
        for title, frame in frames.items():
            rows = [
                [f"{row['model']} {row['target']}"]
                + ["-" if math.isnan(row[name]) else form.format(row[name]) for name, form in how]
                for row in frame.to_dict("records")
            ]
            print_table(title, headings, rows, width=WIDTH)
        typer.echo("\n".join(lines))

    return Answer(
        lambda: json.loads(summary.to_json(orient="records", double_precision=15)),
        show if len(summary) else lambda: None,
        files,
    )


def _tell(row: object) -> None:
    typer.echo(str(row), err=True)
