"""``gnninterpreter tune``: find settings of a recipe for models of one's own."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnninterpreter.cli.answering import Answer
from gnninterpreter.cli.options import Address, Json, Quiet
from gnninterpreter.cli.sweep import Engine, EngineName, Jobs

if TYPE_CHECKING:
    from gnninterpreter.sweep.tune import Trial


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
    from gnninterpreter.sweep import make_workers, save_recipe
    from gnninterpreter.sweep.tune import read_tuning
    from gnninterpreter.sweep.tune import tune as search

    asked = read_tuning(spec)
    if trials is not None:
        asked = replace(asked, trials=trials)
    folder, needs = out or spec.with_suffix(""), asked.sweep

    def tell(trial: Trial) -> None:
        if not quiet:
            typer.echo(f"trial {trial.number}: {_told(trial)}", err=True)

    recipe, best, base = search(
        asked,
        folder,
        lambda: make_workers(
            engine.value, address, jobs, needs.threads, needs.gpus, needs.runtime_env
        ),
        tell,
    )
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
