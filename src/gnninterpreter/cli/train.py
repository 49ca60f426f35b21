"""``gnninterpreter train``: train one of the bundled classifiers anew."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnninterpreter.cli.listing import PER_CLASS
from gnninterpreter.cli.options import Json
from gnninterpreter.cli.output import Answer, check_output
from gnninterpreter.errors import CheckpointError

if TYPE_CHECKING:
    from gnninterpreter.models.scores import ModelScores
    from gnninterpreter.training.trainer import EpochReport


def train(
    name: Annotated[
        str,
        typer.Argument(
            help="Which classifier; `gnninterpreter models` lists them. With --statistics-only "
            "`all` means all in the folder."
        ),
    ],
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Seed of split, weights and batches; else the bundled one's."),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="`cpu` or `cuda`.")] = "cpu",
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the checkpoint, and to go on from.")
    ] = Path("models"),
    root: Annotated[Path | None, typer.Option("--root", help="Folder for the data.")] = None,
    threads: Annotated[
        int, typer.Option("--threads", help="CPU threads; with one, runs repeat exactly.")
    ] = 1,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            help="Also train with this many seeds on random and on scaffold splits, and keep the "
            "mean test scores beside (molecules only).",
        ),
    ] = 0,
    statistics_only: Annotated[
        bool,
        typer.Option(
            "--statistics-only",
            help="Do not train: compute the class statistics of the checkpoint in --out anew.",
        ),
    ] = False,
    as_json: Json = False,
) -> Answer:
    """Train a classifier on its data set, as those that ship with the package were.

    Its state is kept after every epoch: a run that was killed goes on where it was when the same
    command is given again.
    """
    from rich import progress as bars
    from rich.console import Console

    from gnninterpreter.training.judging import refresh_statistics
    from gnninterpreter.training.recipes import measure_recipe, train_bundle, training_recipe

    if statistics_only:
        paths = sorted(out.glob("*.json")) if name == "all" else [out / f"{name}.json"]
        if not paths:
            raise CheckpointError(f"--out {out} holds no checkpoint; name the folder of some")
        done = [str(refresh_statistics(path, root)) for path in paths]
        lines = "\n".join(f"statistics: {path}" for path in done)
        return Answer(lambda: {"statistics": done}, lambda: typer.echo(lines))
    training_recipe(name)
    check_output(out, overwrite=True)
    console = Console(file=sys.stderr)
    losses = "loss {task.fields[loss]:.4f}  validation {task.fields[validation]:.4f}"
    texts = [bars.TextColumn(text) for text in ("{task.description}", losses)]
    columns = texts[0], bars.BarColumn(), bars.MofNCompleteColumn(), texts[1]
    with bars.Progress(*columns, bars.TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task(name, total=None, loss=float("nan"), validation=float("nan"))

        def show(epoch: EpochReport) -> None:
            figures: dict[str, Any] = {"loss": epoch.loss, "validation": epoch.validation}
            progress.update(task, total=epoch.max_epochs, completed=epoch.epoch, **figures)

        bundle, result = train_bundle(
            name,
            root=root,
            seed=seed,
            device=device,
            checkpoint=out / f"{name}.training",
            callback=show,
        )
    if seeds:
        figures = measure_recipe(name, range(seeds), root=root, device=device, callback=_echo_split)
        bundle = replace(bundle, training={**bundle.training, "figures": figures})
    path = bundle.save(out)
    given = {part: one.to_json() for part, one in result.scores.items()}
    return Answer(
        lambda: {"checkpoint": str(path), "scores": given},
        lambda: _echo(result.scores, bundle.spec.class_names),
        {"checkpoint": path},
    )


def _echo(found: Mapping[str, ModelScores], names: Sequence[str]) -> None:
    for part in ("test", "all"):
        scores = found[part]
        typer.echo(f"{part}: {_listed(scores.figures)}")
        for kind in PER_CLASS:
            values = getattr(scores, kind, ())
            if len(values) == len(names):
                told = dict(zip(names, values, strict=True))
                typer.echo(f"  {kind.replace('_', '-').upper()}: {_listed(told)}")


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in values.items())


def _echo_split(kind: str, seed: int, scores: ModelScores) -> None:
    typer.echo(f"{kind} split, seed {seed}: {_listed(scores.figures)}")
