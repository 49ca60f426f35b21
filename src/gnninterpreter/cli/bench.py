"""``gnninterpreter bench``: measure how well explaining works, from many seeds."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gnninterpreter.cli.failing import plainly
from gnninterpreter.cli.options import Address, Json

if TYPE_CHECKING:
    import pandas as pd

    from gnninterpreter.experiments.robustness import Run
    from gnninterpreter.parallel import Workers

__all__ = ["bench"]

bench = typer.Typer(name="bench", help="Measure how well explaining works.", no_args_is_help=True)


@bench.command(name="robustness")
@plainly
def robustness(
    out: Annotated[Path, typer.Option("--out", help="JSON file of runs.")],
    seeds: Annotated[int, typer.Option("--seeds", help="Seeds 0 to this, less one.")] = 20,
    restarts: Annotated[int, typer.Option("--restarts", help="Restarts of each run.")] = 8,
    models: Annotated[
        str,
        typer.Option(
            "--models", help="Names with commas between; `bundled` and `zoo` stand for all of each."
        ),
    ] = "bundled",
    recipe: Annotated[str, typer.Option("--recipe", help="`auto` or `paper`.")] = "auto",
    jobs: Annotated[int, typer.Option("--jobs", help="Runs at a time, one process each.")] = 1,
    address: Address = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="SVG or PNG file with a mark for every run.")
    ] = None,
    table: Annotated[
        bool, typer.Option("--table", help="Only sum up and draw the runs that the file holds.")
    ] = False,
    larger: Annotated[
        Path | None,
        typer.Option(
            "--larger", help="Runs of a search 20 times as large, to show what a model allows."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain every class of every model from many seeds, and say from which it did not work.

    Can be interrupted and called again: runs that are stored in `cache` beside the file are not
    repeated, unless something they depend on has changed, code included. The file holds the runs
    that were asked for.

    Some models are never sure of a class. What such a model allows is shown by a larger search
    (this command again with 20 times the seeds or restarts, and another `--out`), whose file goes
    to `--larger`: runs that come within 0.005 of its best are then counted beside those that reach
    0.99.
    """
    from gnninterpreter.cli.threads import use_threads
    from gnninterpreter.experiments.robustness import configs_of, read_runs, robustness, summarize

    use_threads(1)
    searched = [] if larger is None else read_runs(larger)
    if table:
        runs = read_runs(out)
    else:
        configs = configs_of(models, seeds, restarts, recipe)
        runs = robustness(configs, out, _workers(jobs, address), _tell)
    _show(summarize(runs, searched), _echo_table, as_json)
    if plot is not None:
        from gnninterpreter.experiments.charts import save, seed_chart

        values: dict[tuple[str, str], list[float]] = {}
        for run in runs:
            values.setdefault((run.config.model, run.config.target), []).append(run.mean)
        save(seed_chart(values), plot)
        typer.echo(f"plot: {plot}", err=as_json)


@bench.command(name="realism")
@plainly
def realism(
    out: Annotated[Path, typer.Option("--out", help="JSON file of rows.")],
    seeds: Annotated[int, typer.Option("--seeds", help="Seeds 0 to this, less one.")] = 20,
    restarts: Annotated[int, typer.Option("--restarts", help="Restarts of each run.")] = 8,
    models: Annotated[
        str,
        typer.Option(
            "--models",
            help="Names with commas between; `bundled` and `zoo` stand for all of each; your own "
            "as package.module:model@package.module:graphs.",
        ),
    ] = "bundled",
    method: Annotated[
        str,
        typer.Option(
            "--method", help="With commas: ours, certain, paper, random, xgnn, real; or all."
        ),
    ] = "ours",
    jobs: Annotated[int, typer.Option("--jobs", help="Runs at a time, one process each.")] = 1,
    address: Address = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="SVG or PNG file with shares by class.")
    ] = None,
    table: Annotated[
        bool, typer.Option("--table", help="Only sum up and draw the rows that the file holds.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Hold explanations of every class against real graphs and other methods.

    Places under random GINs and PolyGraph's discrepancy are used by no search. Can be interrupted
    and called again. PolyGraph has an environment of its own; see the page on realism in the docs.
    """
    from gnninterpreter.cli.bench_tables import echo_realism
    from gnninterpreter.cli.threads import use_threads
    from gnninterpreter.experiments.realism import configs_of, read_rows
    from gnninterpreter.experiments.realism import realism as measure
    from gnninterpreter.experiments.realism.discrepancy import read_discrepancies
    from gnninterpreter.experiments.realism.rows import line
    from gnninterpreter.experiments.realism.summary import chart, summarize

    use_threads(1)
    if table:
        rows = read_rows(out)
    else:
        configs = configs_of(models, seeds, restarts, method)
        workers = _workers(jobs, address)
        rows = measure(configs, out, workers, lambda row: typer.echo(line(row), err=True))
    summary = summarize(rows, read_discrepancies(out))
    _show(summary, echo_realism, as_json)
    if plot is not None and len(summary):
        from gnninterpreter.experiments.charts import save

        first = "ours" if "ours" in set(summary.method) else str(summary.method[0])
        save(chart(summary, first), plot)
        typer.echo(f"plot: {plot}", err=as_json)


def _show(summary: pd.DataFrame, echo: Callable[[pd.DataFrame], None], as_json: bool) -> None:
    """Print a summary as a table, or as one JSON document."""
    if as_json:
        from gnninterpreter.cli.output import echo_json

        echo_json(json.loads(summary.to_json(orient="records", double_precision=15)))
    else:
        echo(summary)


def _workers(jobs: int, address: str | None) -> int | Workers:
    from gnninterpreter.sweep import make_workers

    return jobs if address is None else make_workers("ray", address)


def _tell(run: Run) -> None:
    config = run.config
    typer.echo(
        f"{config.model} / {config.target} / seed {config.seed}: {run.mean:.4f} "
        f"{'missed' if run.missed else 'ok'} ({run.nodes} nodes, {run.edges} edges, "
        f"{run.seconds:.1f} s)",
        err=True,
    )


def _echo_table(summary: pd.DataFrame) -> None:
    from rich.console import Console
    from rich.table import Table

    from gnninterpreter.experiments.robustness import NEAR, TIMES

    limited = bool(summary.best.notna().any())
    columns = ["model", "target", "runs", "missed", "lowest", "mean", "size", "oracle", "s"]
    if limited:
        columns.insert(4, "best")
    # Without lines between columns it fits on 80.
    table = Table(
        title="Robustness over seeds", title_justify="left", box=None, padding=(0, 1, 0, 0)
    )
    for name in columns:
        side: Literal["left", "right"] = "left" if name in ("model", "target") else "right"
        table.add_column("class" if name == "target" else name, justify=side, no_wrap=True)
    shown = summary.assign(
        best=[_cell("{:.4f}", value) for value in summary.best],
        lowest=[_cell("{:.4f}", value) for value in summary.lowest],
        mean=[_cell("{:.4f}", value) for value in summary["mean"]],
        size=[f"{n:g}/{m:g}" for n, m in zip(summary.nodes, summary.edges, strict=True)],
        oracle=[_cell("{:.0%}", value) for value in summary.oracle_agrees],
        s=[_cell("{:.1f}", value) for value in summary.seconds],
    )
    for row in shown[columns].astype(str).to_numpy().tolist():
        table.add_row(*row)
    table.caption = "size: median nodes/edges; oracle: how often it agrees; s: median seconds"
    if limited:
        table.caption += "\nbest: found by a larger search, where the model allows no 0.99"
    Console().print(table)
    runs, missed = int(summary.runs.sum()), int(summary.missed.sum())
    typer.echo(f"{runs - missed} of {runs} runs reached 0.99 with a feasible graph")
    if limited:
        typer.echo(
            f"{int(summary.near.sum())} more, of classes where the model allows no 0.99, came "
            f"within {NEAR:g} of the best that a search {TIMES} times as large has found"
        )


def _cell(form: str, value: float) -> str:
    return "" if math.isnan(value) else form.format(value)
