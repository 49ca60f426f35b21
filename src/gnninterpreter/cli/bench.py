"""``gnninterpreter bench``: measure how well explaining works, from many seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnninterpreter.cli.failing import plainly

if TYPE_CHECKING:
    from gnninterpreter.experiments.robustness import Run, Summary

__all__ = ["bench"]

bench = typer.Typer(name="bench", help="Measure how well explaining works.", no_args_is_help=True)


@bench.command(name="robustness")
@plainly
def robustness(
    out: Annotated[Path, typer.Option("--out", help="JSON file of runs; an existing one goes on.")],
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
    plot: Annotated[
        Path | None, typer.Option("--plot", help="SVG file for the spread over seeds.")
    ] = None,
    larger: Annotated[
        Path | None,
        typer.Option(
            "--larger", help="Runs of a search 20 times as large, to show what a model allows."
        ),
    ] = None,
) -> None:
    """Explain every class of every model from many seeds, and say from which it did not work.

    Can be interrupted and called again: runs that the file holds are not repeated.

    Some models are never sure of a class. What such a model allows is shown by a larger search
    (this command again with 20 times the seeds or restarts, and another `--out`), whose file goes
    to `--larger`: runs that come within 0.005 of its best are then counted beside those that reach
    0.99.
    """
    from gnninterpreter.cli.threads import use_threads
    from gnninterpreter.experiments.robustness import Job, read_runs, robustness, summarise
    from gnninterpreter.experiments.spread import spread_svg

    use_threads(1)
    searched = [] if larger is None else read_runs(larger)
    wanted = [
        Job(name, target, seed, restarts, recipe)
        for name in _names(models)
        for target in _targets(name, recipe)
        for seed in range(seeds)
    ]
    done = 0

    def tell(run: Run) -> None:
        nonlocal done
        done += 1
        mark = "lost" if run.lost else "ok"
        job = run.job
        typer.echo(
            f"{job.model} / {job.target} / seed {job.seed}: {run.mean:.4f} {mark} "
            f"({run.nodes} nodes, {run.edges} edges, {run.seconds:.1f} s)",
            err=True,
        )

    chosen = set(wanted)
    runs = [run for run in robustness(wanted, out, jobs, tell) if run.job in chosen]
    runs.sort(key=lambda run: wanted.index(run.job))
    summaries = summarise(runs, searched)
    _echo_table(summaries)
    if plot is not None:
        from gnninterpreter.files import write_atomically

        values: dict[tuple[str, str], list[float]] = {(s.model, s.target): [] for s in summaries}
        for run in runs:
            values[run.job.model, run.job.target].append(run.mean)
        write_atomically(plot, spread_svg(values).encode())
        typer.echo(f"plot: {plot}")


def _names(models: str) -> list[str]:
    from gnninterpreter.experiments.zoo import ZOO
    from gnninterpreter.models import bundled_names

    names: list[str] = []
    for part in models.split(","):
        names += {"bundled": list(bundled_names()), "zoo": list(ZOO)}.get(part, [part])
    return list(dict.fromkeys(names))


def _targets(name: str, recipe: str) -> tuple[str, ...]:
    from gnninterpreter.experiments.zoo import SPECS, ZOO
    from gnninterpreter.models import load
    from gnninterpreter.search.recipe import PAPER_WEIGHTS

    if name in ZOO:
        return SPECS[ZOO[name].data].class_names
    bundle = load(name)
    known = PAPER_WEIGHTS.get(bundle.dataset_name, {})
    return tuple(
        c for c in bundle.spec.class_names if recipe != "paper" or c.replace("_", " ") in known
    )


def _echo_table(summaries: list[Summary]) -> None:
    from rich.console import Console
    from rich.table import Table

    from gnninterpreter.experiments.robustness import NEAR, TIMES

    # Without lines between columns it fits on 80.
    table = Table(
        title="Robustness over seeds", title_justify="left", box=None, padding=(0, 1, 0, 0)
    )
    for name in ("model", "class"):
        table.add_column(name, no_wrap=True)
    columns = ["runs", "lost", "lowest", "mean", "size", "oracle", "s"]
    limited = [s for s in summaries if s.best is not None]
    if limited:
        columns.insert(2, "best")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for s in summaries:
        best = [""] if s.best is None else [f"{s.best:.4f}"]
        table.add_row(
            s.model,
            s.target,
            str(s.runs),
            str(s.lost),
            *(best if limited else []),
            f"{s.lowest:.4f}",
            f"{s.mean:.4f}",
            f"{s.nodes:g}/{s.edges:g}",
            "" if s.oracle_agrees is None else f"{100 * s.oracle_agrees:.0f}%",
            f"{s.seconds:.1f}",
        )
    table.caption = "size: median nodes/edges; oracle: how often it agrees; s: median seconds"
    if limited:
        table.caption += "\nbest: found by a larger search, where the model allows no 0.99"
    Console().print(table)
    lost, runs = sum(s.lost for s in summaries), sum(s.runs for s in summaries)
    typer.echo(f"{runs - lost} of {runs} runs reached 0.99 with a sound graph")
    if limited:
        typer.echo(
            f"{sum(s.near for s in limited)} more, of classes where the model allows no 0.99, came "
            f"within {NEAR:g} of the best that a search {TIMES} times as large has found"
        )
