"""Arguments that several commands share, so that they are spelled and explained the same way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from gnninterpreter.explanation import ExplanationSet
    from gnninterpreter.parallel import Workers

Run = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]
Forward = Annotated[
    str | None,
    typer.Option(
        metavar="FUNCTION",
        help="package.module:name of a function forward(model, data), where the signature of the "
        "model does not say how it is called.",
    ),
]
Smiles = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Instead of DATA: a table (CSV) of SMILES, for a model of molecules.",
    ),
]
SmilesColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of FILE with the SMILES.",
        show_default="the one with that word in its name",
    ),
]
Label = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of FILE with the labels; give it again for a model of several labels.",
    ),
]
Featuriser = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The featuriser of the molecules in FILE: pyg, ogb, deepchem or dgl-lifesci.",
        show_default="the features of the saved model, or pyg",
    ),
]
ClassNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Names of the classes, labels or values, with commas between them, in the order of "
        "the model's outputs.",
        show_default="from the data",
    ),
]
Restarts = Annotated[int, typer.Option(help="Independent searches for each target.")]
Iterations = Annotated[
    int | None, typer.Option(help="Most gradient steps of a search.", show_default="the recipe's")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the run that DIR holds.")]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="A Ray cluster that runs already.",
        show_default="one on this machine",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same results.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


def explained_model(what_for: str = "") -> object:
    """The option that names the model of a run; ``what_for`` says what it adds."""
    return typer.Option(
        metavar="MODEL",
        help=f"The model that was explained, as for `explain`{what_for}. A bundled model is found "
        "by itself.",
    )


def subject(
    model: str,
    data: str | None,
    *,
    smiles: Path | None,
    smiles_column: str | None,
    label: list[str] | None,
    preset: str | None,
    class_names: list[str] | None = None,
) -> tuple[Any, Any]:
    """The model that is meant, and its graphs: those of DATA, or of a table of molecules."""
    from gnninterpreter.references import MoleculeTable, load_subject

    table = MoleculeTable(smiles, label or (), preset, smiles_column, class_names)
    return load_subject(model, data, table, partial(typer.echo, err=True))


def opened_run(
    run: Path, model: str | None, data: str | None, forward: str | None
) -> tuple[ExplanationSet, Any, Any, Callable[..., Any] | None]:
    """A stored run with its model, data and way to call the model, where they are known."""
    from gnninterpreter.explanation import load_run
    from gnninterpreter.references import load_data, load_forward, load_run_model

    result, dataset = load_run(run), load_data(data)
    return result, load_run_model(result, model, dataset), dataset, load_forward(forward)


def workers_of(jobs: int, address: str | None) -> int | Workers:
    """What does the work: processes of this machine, or a Ray cluster where one is named."""
    from gnninterpreter.sweep import make_workers

    return jobs if address is None else make_workers("ray", address)


def shown(quiet: bool) -> Any:
    """How a run is shown as it goes, for `gnninterpreter.explain`."""
    from gnninterpreter.cli.progress import LiveProgress

    return not quiet and LiveProgress(transient=True)


def names_of(written: str | None) -> list[str] | None:
    """Names that were written in one option, with commas between them."""
    return None if written is None else [name.strip() for name in written.split(",")]


def labelled_graphs(what_for: str) -> object:
    """The option that names a data set; ``what_for`` says what it is needed for."""
    return typer.Option(metavar="DATA", help=f"The labelled graphs, as for `explain`{what_for}")
