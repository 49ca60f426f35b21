"""``gnninterpreter audit``: look for ways in which a model is certain and wrong."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnninterpreter.cli import options
from gnninterpreter.cli.output import (
    REPORT,
    Answer,
    check_output,
    print_table,
    verdict_text,
    write_output,
)
from gnninterpreter.errors import ModelError
from gnninterpreter.files import write_atomically, writing

if TYPE_CHECKING:
    from gnninterpreter.audit import Audit
    from gnninterpreter.models import Bundle

AUDIT = "audit.json"
FOUND = 1


# Severities by name, known without torch.
Level = Enum("Level", {"HIGH": "high", "MEDIUM": "medium", "LOW": "low"}, type=str)


def audit(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model, as for `explain`.")],
    data: Annotated[str | None, options.labelled_graphs(". A bundled model needs none.")] = None,
    smiles: options.Smiles = None,
    smiles_column: options.SmilesColumn = None,
    label: options.Label = None,
    preset: options.Featuriser = None,
    class_names: options.ClassNames = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the run, its report.html and audit.json with all the graphs.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    fail_on: Annotated[
        Level | None,
        typer.Option(
            help="End with exit code 1 if there is a finding as grave as this, or graver."
        ),
    ] = None,
    as_json: options.Json = False,
    retrain: Annotated[
        bool,
        typer.Option(
            "--retrain",
            help="Train a bundled model again with the graphs that were found, audit it again, "
            "and show before and after. A run that was killed goes on when it is started again.",
        ),
    ] = False,
    epochs: Annotated[
        int | None, typer.Option(help="Epochs of --retrain.", show_default="as it was trained")
    ] = None,
    hosts: Annotated[
        int, typer.Option(help="How many graphs patterns and look-alikes are joined to.")
    ] = 60,
    restarts: options.Restarts = 8,
    seed: options.Seed = 0,
    iterations: options.Iterations = None,
    forward: options.Forward = None,
    quiet: options.Quiet = False,
) -> Answer:
    """Look for ways in which a model is certain and wrong.

    Explains every class, asks the rule of the data set about it where there is one, joins the
    patterns that define classes and look-alikes of them to graphs of other classes, looks for a
    default class and for the smallest change that leads to another class. With `--fail-on` it can
    gate a pipeline. With `--out`, the same command goes on where it was stopped.

    For example:

    - `gnninterpreter audit motif --out audit`
    - `gnninterpreter audit mylab.models:trained --data mylab.data:graphs --fail-on high`
    - `gnninterpreter audit mylab.models:trained --smiles bbbp.csv --label p_np`
    """
    if out is not None:
        check_output(out, overwrite)
        out = out.resolve()
    from gnninterpreter.audit import audit as run_audit
    from gnninterpreter.explanation.storage import INDEX
    from gnninterpreter.models import Bundle
    from gnninterpreter.references import load_forward
    from gnninterpreter.search import Recipe

    found, dataset = options.subject(
        model,
        data,
        smiles=smiles,
        smiles_column=smiles_column,
        label=label,
        preset=preset,
        class_names=(names := options.names_of(class_names)),
    )
    if epochs is not None and not retrain:
        raise ModelError("--epochs is only for --retrain; add it, or leave --epochs out")
    if retrain and not isinstance(found, Bundle):
        raise ModelError(
            f"--retrain needs a bundled model, which knows how it was trained (got {model!r}); "
            "train your own with the graphs of gnninterpreter.audit.load_graphs(DIR)"
        )
    # Beside the folder, which is whole or absent.
    unfinished = None if out is None else out.parent / f".{out.name}.unfinished"
    settings: dict[str, Any] = {
        "resume": unfinished,
        "hosts": hosts,
        "seed": seed,
        "restarts": restarts,
        "forward": load_forward(forward),
        "recipe": "auto" if iterations is None else Recipe.auto(iterations=iterations),
        "progress": options.shown(quiet),
        "class_names": names,
    }
    result, trained = run_audit(found, dataset, **settings), None
    if retrain and not result.counterexamples():
        told = "nothing to train on: the model got no graph wrong whose true class is known"
        typer.echo(told, err=True)
    elif retrain and isinstance(found, Bundle):
        trained, result = _again(found, dataset, result, epochs, quiet, settings)
    if out is not None and unfinished is not None:
        with whole_folder(out, unfinished, last=(AUDIT, INDEX)) as made:
            more = {"forward": settings["forward"], "audit": result}
            asked = trained or found
            write_output(result.explanations, made, overwrite, asked, dataset, **more)
            write_atomically(made / AUDIT, json.dumps(result.to_json()).encode())
            if trained is not None:
                trained.save(made)
    return Answer(
        partial(result.to_json, with_graphs=False),
        partial(_echo, result),
        {} if out is None else {"report": out / REPORT},
        FOUND if fail_on is not None and result.at_least(fail_on.value) else 0,
    )


@contextlib.contextmanager
def whole_folder(folder: Path, work: Path, last: tuple[str, ...]) -> Iterator[Path]:
    """Give a folder in ``work`` whose files go to ``folder`` together when the block succeeds.

    Where ``folder`` is new or empty that is one rename. Otherwise the files that make it an audit
    are taken away first and come ``last``, so that a run killed in between leaves no mixture of
    two.
    """
    made = work / "made"
    shutil.rmtree(made, ignore_errors=True)  # of one that was killed
    with writing(made):
        made.mkdir(parents=True)
    try:
        yield made
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        with contextlib.suppress(OSError):
            work.rmdir()  # unless there are finished classes in it
        raise
    if not folder.exists() or not any(folder.iterdir()):
        os.replace(made, folder)
    else:
        for name in last:
            (folder / name).unlink(missing_ok=True)
        for path in sorted(made.iterdir(), key=lambda path: path.name in last):
            os.replace(path, folder / path.name)
    shutil.rmtree(work, ignore_errors=True)


def _again(
    bundle: Bundle,
    dataset: Any,
    before: Audit,
    epochs: int | None,
    quiet: bool,
    settings: dict[str, Any],
) -> tuple[Bundle, Audit]:
    """Train with the graphs that were found, and audit what comes out."""
    from gnninterpreter import datasets
    from gnninterpreter.audit import audit as run_audit
    from gnninterpreter.audit import retrain
    from gnninterpreter.datasets._storage import cache_folder
    from gnninterpreter.training.trainer import EpochReport

    def tell(line: str) -> None:
        if not quiet:
            typer.echo(f"training again{line}", err=True)

    def show(report: EpochReport) -> None:
        if report.epoch % 10 == 0:
            of = f"epoch {report.epoch} of {report.max_epochs}"
            tell(f": {of}, validation {report.validation:.3f}")

    graphs = datasets.load(bundle.dataset_name) if dataset is None else dataset
    tell(
        f" with {len(before.counterexamples())} graphs that were wrong and "
        f"{len(before.contrasts)} with the true patterns; if this is stopped, the same command "
        "goes on where it was"
    )
    folder = cache_folder() / "retraining"
    trained = retrain(bundle, graphs, before, epochs=epochs, folder=folder, callback=show)
    # Other hosts than those that the new model was trained on.
    after = run_audit(trained, dataset, **{**settings, "seed": settings["seed"] + 1})
    before, after = (_scored(before, bundle), _scored(after, trained))
    return trained, replace(after, before=before)


def _scored(found: Audit, bundle: Bundle) -> Audit:
    """An audit with the figures of its model on the test part."""
    tested = bundle.scores.get("test")
    figures = {} if tested is None else tested.figures
    told = {f"test {name}": round(value, 4) for name, value in figures.items()}
    return replace(found, numbers={**found.numbers, **told})


def _echo(result: Audit) -> None:
    from rich.console import Console
    from rich.text import Text

    styles = {"high": "bold red", "medium": "yellow", "low": "green"}
    rows: list[list[str | Text]] = []
    for finding in result.findings:
        text = Text(finding.title, style="bold")
        text.append(f"\n{finding.sentence}", style="not bold")
        severity = str(finding.severity)
        rows.append([Text(severity, style=styles[severity]), text, str(len(finding.graphs))])
    columns = {"severity": "left", "finding": "fold", "graphs": "right"}
    if rows:
        print_table(f"Audit of {result.explanations.model_name}", columns, rows, lines=True)
    else:
        typer.echo("no findings")
    console = Console(file=sys.stdout)
    for name, explanation in result.explanations.items():
        console.print(Text(f"{name}: "), verdict_text(explanation.verdict), sep="")
    if result.before is not None:
        before, after = result.before.counts(), result.counts()
        for severity, count in after.items():
            typer.echo(f"{severity}: {before[severity]} before, {count} after training again")
