"""``gnninterpreter explain``: explain the classes of a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnninterpreter.cli import options
from gnninterpreter.cli.options import Iterations, Json, Overwrite, Quiet, Restarts, Seed
from gnninterpreter.cli.output import Answer, check_output, echo_table, with_graphs, write_output
from gnninterpreter.errors import SpecError

if TYPE_CHECKING:
    from gnninterpreter.search import Recipe


def explain(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A bundled model (see: gnninterpreter models), the file of a saved one, or "
            "package.module:name of your own: a trained model, or a function that returns one.",
        ),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="The labelled graphs: package.module:name of a data set, a list, or a function "
            "that returns one; or the name of a data set of this package. A bundled model "
            "needs none.",
        ),
    ] = None,
    smiles: options.Smiles = None,
    smiles_column: options.SmilesColumn = None,
    label: options.Label = None,
    preset: options.Featuriser = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            metavar="TARGET",
            help="A class or label to explain, by name or index; 'a | b' for the boundary between "
            "two classes; max, min or a number for a regression. Give it again for more. All by "
            "default.",
        ),
    ] = None,
    restarts: options.Restarts = 8,
    seed: options.Seed = 0,
    device: Annotated[str, typer.Option(help="Where to run: cpu, cuda or cuda:1.")] = "cpu",
    threads: Annotated[
        int, typer.Option(help="CPU threads; more than one pays only for large models.")
    ] = 1,
    recipe: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="auto needs no tuning; certain looks for certainty alone; paper repeats the paper "
            "on its own data sets; or a file that `tune` wrote.",
            autocompletion=lambda: ["auto", "certain", "paper"],
        ),
    ] = "auto",
    max_nodes: Annotated[
        int | None,
        typer.Option(help="Most nodes of an explanation.", show_default="from the class"),
    ] = None,
    iterations: options.Iterations = None,
    task: Annotated[
        str, typer.Option(help="What the model says: multiclass, binary, multilabel or regression.")
    ] = "auto",
    class_names: options.ClassNames = None,
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Most memory that searches may take, as 4GB; restarts that do not fit at once "
            "are searched for in parts.",
            show_default="what is free",
        ),
    ] = None,
    forward: options.Forward = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the run and its report.html.")
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> Answer:
    """Explain the classes, labels or values of a graph-level model.

    For each, find graphs that the model assigns to it with near certainty. All figures come from
    the model itself on discrete graphs. A target that cannot be reached is a result: the table
    says so, and the exit code is 0. It is 2 when an argument has to be mended. With `--out`,
    finished ones are kept as they come: the same command goes on where it was stopped.

    For example:

    - `gnninterpreter explain shape --target wheel`
    - `gnninterpreter explain mylab.models:trained --data mylab.data:graphs --out run`
    - `gnninterpreter explain mylab.models:trained --smiles bbbp.csv --label p_np`
    - `gnninterpreter explain mylab.models:solubility --data mylab.data:esol --class-names "log S"`
    - `gnninterpreter explain is_acyclic --json --quiet > result.json`
    """
    chosen = _recipe(recipe, max_nodes, iterations)
    if out is not None:
        check_output(out, overwrite)
    from gnninterpreter import api
    from gnninterpreter.references import load_forward

    names = options.names_of(class_names)
    found, dataset = options.subject(
        model,
        data,
        smiles=smiles,
        smiles_column=smiles_column,
        label=label,
        preset=preset,
        class_names=names,
    )
    call = load_forward(forward)
    result = api.explain(
        found,
        dataset,
        targets=target or None,
        task=task,
        class_names=names,
        restarts=restarts,
        seed=seed,
        recipe=chosen,
        forward=call,
        device=device,
        progress=options.shown(quiet),
        resume=out,
        max_memory=max_memory,
    )
    files = {}
    if out is not None:
        files["report"] = write_output(result, out, overwrite, found, dataset, forward=call)
    return Answer(partial(with_graphs, result), partial(echo_table, result), files)


def _recipe(name: str, max_nodes: int | None, iterations: int | None) -> str | Recipe:
    given = {"max_nodes": max_nodes, "iterations": iterations}
    overrides = {key: value for key, value in given.items() if value is not None}
    if not overrides and name in ("auto", "certain", "paper"):
        return name
    if name == "paper":
        options = " and ".join("--" + key.replace("_", "-") for key in overrides)
        raise SpecError(
            f"--recipe paper has settings of its own, so {options} cannot be given with it; "
            "leave it out, or use --recipe auto"
        )
    from gnninterpreter.sweep import load_recipe

    found = load_recipe(name, what="--recipe")
    return found if isinstance(found, str) else found.with_(**overrides)


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
