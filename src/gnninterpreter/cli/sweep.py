"""``gnninterpreter sweep`` and ``tune``: many models, classes, seeds and recipes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnninterpreter.cli.options import Address, Json, Quiet
from gnninterpreter.cli.output import Answer
from gnninterpreter.errors import SpecError

if TYPE_CHECKING:
    from gnninterpreter.parallel import Workers
    from gnninterpreter.sweep import SweepSpec, Tally
    from gnninterpreter.sweep.jobs import Job
    from gnninterpreter.sweep.tune import Trial

FAILED = 1
SHOWN = 5


EngineName = Enum("EngineName", {"RAY": "ray", "PROCESSES": "processes"}, type=str)
Engine = Annotated[
    EngineName, typer.Option(help="What runs the jobs: Ray, or plain processes of this machine.")
]
Jobs = Annotated[
    int | None, typer.Option(help="Jobs at a time on this machine.", show_default="one a core")
]


def sweep(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="What to do.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of Parquet parts.", show_default="SPEC without .toml"
        ),
    ] = None,
    address: Address = None,
    jobs: Jobs = None,
    engine: Engine = EngineName.RAY,
    again: Annotated[
        bool, typer.Option("--again", help="Do those again that failed in an earlier run.")
    ] = False,
    list_only: Annotated[
        bool, typer.Option("--list", help="Say what there is to do, and stop.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> Answer:
    """Explain or audit many models: models x classes x seeds x recipes.

    A job is known by the content of everything it depends on. A sweep may be killed at any point;
    the same command goes on where it was. A job that fails is tried again, then stored with its
    error, and the others go on; the exit code is then 1. Results can be read while it runs, for
    example with `pandas.read_parquet("DIR")`.

    A file:

        models = ["motif", "runs/*.safetensors"]
        seeds = 4
        recipes = ["auto", { name = "short", iterations = 20 }]

    For example:

    - `gnninterpreter sweep sweep.toml --list`
    - `gnninterpreter sweep sweep.toml --out results --jobs 8`
    - `gnninterpreter sweep audits.toml --address 10.0.0.1:6379`
    """
    from gnninterpreter.sweep import pending, read_sweep, run_sweep

    asked = read_sweep(spec)
    folder = out or spec.with_suffix("")
    listed = _listed(asked, quiet)
    broken = {job.source.name: job.broken for job in listed if job.broken}
    failures: list[dict[str, Any]] = []
    if list_only:
        tally = pending(listed, folder, again)[1]
    else:
        with telling(quiet, failures) as tell:
            tally = run_sweep(
                listed,
                folder,
                _workers(asked, engine, address, jobs),
                retries=asked.retries,
                timeout=asked.timeout,
                again=again,
                tell=tell,
            )

    def show() -> None:
        for row in failures[:SHOWN]:
            typer.echo(f"failed: {name_of(row)}: {row['error']}", err=True)
        if tally.failed > len(failures) and not list_only:
            before = tally.failed - len(failures)
            typer.echo(f"{before} failed before; --again tries them once more", err=True)
        noun = "job" if tally.total == 1 else "jobs"
        stands = f"{tally.done} done, {tally.failed} failed, {tally.left} left"
        typer.echo(f"{tally.total} {noun}: {stands}; results: {folder.resolve()}")

    values = {**vars(tally), "left": tally.left, "folder": str(folder), "unreadable": broken}
    return Answer(lambda: values, show, code=FAILED if tally.failed and not list_only else 0)


def _workers(
    asked: SweepSpec, engine: EngineName, address: str | None, jobs: int | None
) -> Callable[[], Workers]:
    from gnninterpreter.sweep import make_workers

    needs = asked.threads, asked.gpus, asked.runtime_env
    return partial(make_workers, engine.value, address, jobs, *needs)


def _listed(asked: SweepSpec, quiet: bool) -> list[Job]:
    """The jobs of a sweep; it is told where models cannot be read, and refused where none can."""
    from gnninterpreter.sweep import jobs_of

    jobs = list(jobs_of(asked))
    lost = unreadable(jobs, len(asked.models))
    if lost and all(job.broken for job in jobs):
        raise SpecError(lost)
    if lost and not quiet:
        typer.echo(lost, err=True)
    return jobs


def unreadable(jobs: Sequence[Job], models: int) -> str:
    """Which models of a sweep cannot be read, and what that costs, in one sentence or none."""
    lost = [job for job in jobs if job.broken]
    if not lost:
        return ""
    names = {job.source.name for job in lost}
    first: dict[str | None, str] = {}  # one model for each reason: all may have the same
    for job in lost:
        first.setdefault(job.broken, job.source.name)
    told = [f"{name} ({why})" for why, name in first.items()][:SHOWN]
    more = f"; and {len(names) - len(told)} more" if len(names) > len(told) else ""
    return (
        f"{len(names)} of {models} models cannot be read, and {len(lost)} of {len(jobs)} jobs will "
        f"fail: {'; '.join(told)}{more}"
    )


def name_of(row: dict[str, Any]) -> str:
    """A short line for a job."""
    target = "" if row["target"] is None else f" / {row['target']}"
    return f"{row['model']}{target} / {row['recipe']} / seed {row['seed']}"


@contextmanager
def telling(
    quiet: bool, failures: list[dict[str, Any]]
) -> Iterator[Callable[[Tally, list[dict[str, Any]]], None]]:
    """Show how all jobs stand: a bar on a terminal, a line now and then anywhere else."""
    from rich import progress as bars
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet)
    kinds = bars.BarColumn, bars.MofNCompleteColumn, bars.TimeRemainingColumn
    columns = *(kind() for kind in kinds), bars.TextColumn("{task.description}")
    told = -1
    with bars.Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=None)

        def tell(tally: Tally, rows: list[dict[str, Any]]) -> None:
            nonlocal told
            failures.extend(row for row in rows if row["status"] == "failed")
            reached = tally.done + tally.failed
            said = f"{tally.failed} failed" if tally.failed else ""
            progress.update(bar, total=tally.total, completed=reached, description=said)
            step = 20 * reached // max(tally.total, 1)
            if not console.is_terminal and step > told:
                told = step
                console.print(f"{reached} of {tally.total} jobs{said and ', ' + said}")

        yield tell


def tune(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="What to tune.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for trials and recipe.", show_default="SPEC without .toml"
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="Recipes to try.", show_default="as SPEC says, or 20")
    ] = None,
    address: Address = None,
    jobs: Jobs = None,
    engine: Engine = EngineName.RAY,
    quiet: Quiet = False,
    as_json: Json = False,
) -> Answer:
    """Find settings of a recipe, and write them to a file that `explain --recipe` takes.

    Recipes are compared by the share of restarts that are certain, then by how typical their graphs
    are, then by time. May be killed at any point; the same command goes on where it was. Where
    nothing beats the recipe it began with, that one is written.

    A file has the keys of a sweep, and a range for each setting:

        models = ["mylab:model"]
        data = "mylab:graphs"
        base = "auto"

        [space]
        iterations = { low = 20, high = 400, log = true }

        [space.size]
        discrete = { low = 0.05, high = 2.0, log = true }

    For example:

    - `gnninterpreter tune tune.toml --trials 40 --jobs 8`
    - `gnninterpreter explain mylab:model --data mylab:graphs --recipe tune/recipe.json`
    """
    from gnninterpreter.sweep import save_recipe
    from gnninterpreter.sweep.tune import read_tuning
    from gnninterpreter.sweep.tune import tune as search

    asked = read_tuning(spec)
    if trials is not None:
        asked = replace(asked, trials=trials)
    folder = out or spec.with_suffix("")
    _listed(asked.sweep, quiet)

    def tell(trial: Trial) -> None:
        if not quiet:
            typer.echo(f"trial {trial.number}: {_told(trial)}", err=True)

    workers = _workers(asked.sweep, engine, address, jobs)
    recipe, best, base = search(asked, folder, workers, tell)
    written = save_recipe(recipe, folder / "recipe.json")
    return Answer(
        lambda: {"recipe": str(written.resolve()), "base": asdict(base), "best": asdict(best)},
        lambda: typer.echo(f"base: {_told(base)}\nbest: {_told(best)}"),
        {"recipe": written},
    )


def _told(trial: Trial) -> str:
    typical = "" if trial.typicality is None else f", typical {trial.typicality:.0f}%"
    settings = ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in trial.settings.items()
    )
    figures = f"certain {trial.certain:.0%}{typical}, {trial.seconds:.1f} s a job"
    return f"{figures} ({settings or 'as it is'})"
