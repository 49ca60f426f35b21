"""``gnninterpreter compare``: two models, checkpoints or runs side by side."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnninterpreter.cli import options
from gnninterpreter.cli.output import Answer, print_table
from gnninterpreter.errors import SpecError

if TYPE_CHECKING:
    from gnninterpreter.explanation import ExplanationSet
    from gnninterpreter.explanation.compare import Comparison


def _side_argument(letter: str) -> object:
    return typer.Argument(metavar=letter, help="A model as for `explain`, or a run folder.")


def compare(
    first: Annotated[str, _side_argument("A")],
    second: Annotated[str, _side_argument("B")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="The model of a run folder, as for `explain`: give one for each of them, in "
            "their order. A bundled model is found by itself.",
        ),
    ] = None,
    data: Annotated[str | None, options.labelled_graphs(". Bundled models need none.")] = None,
    restarts: options.Restarts = 8,
    seed: options.Seed = 0,
    fidelity: Annotated[
        bool,
        typer.Option(
            "--fidelity", help="Also measure how much of each model patterns account for."
        ),
    ] = False,
    forward: options.Forward = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="HTML page to write.")] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> Answer:
    """Put two models side by side, or one before and after it was trained again.

    Prototypes, cores, coverage and verdicts of every class, and whether each model agrees on the
    graphs of the other. A model is explained first; a run folder is read, and what its model makes
    of the other's graphs is known where MODEL is given.

    For example:

    - `gnninterpreter compare runs/before runs/after --out compared.html`
    - `gnninterpreter compare runs/before runs/after --model mylab:old --model mylab:new`
    - `gnninterpreter compare motif retrained/motif.json`
    - `gnninterpreter compare mylab:old mylab:new --data mylab:graphs --json`
    """
    from gnninterpreter import api
    from gnninterpreter.arguments import page_of
    from gnninterpreter.explanation import ExplanationSet
    from gnninterpreter.explanation.compare import compare as put_side_by_side
    from gnninterpreter.models import Bundle
    from gnninterpreter.references import load_data, load_forward, load_model

    if out is not None:
        page_of("--out", out)
    call, dataset = load_forward(forward), load_data(data)
    settings = {
        "restarts": restarts,
        "seed": seed,
        "forward": call,
        "progress": options.shown(quiet),
    }
    loaded = [api.load(one) if Path(one).is_dir() else load_model(one) for one in (first, second)]
    specs = [one.spec for one in loaded if isinstance(one, (Bundle, ExplanationSet))]
    takes = {(spec.nodes, spec.edges) for spec in specs}
    if len(takes) > 1:  # before minutes are spent on either
        raise SpecError("the two models take different graphs; compare others")
    runs = sum(isinstance(one, ExplanationSet) for one in loaded)
    if model and len(model) != runs:
        raise SpecError(f"--model is for run folders, one for each (got {len(model)} for {runs})")
    named = iter(model or ())
    sides = [_side(one, dataset, settings, named) for one in loaded]
    found = put_side_by_side(
        sides[0][0],
        sides[1][0],
        models=[model for _, model in sides],
        dataset=dataset,
        forward=call,
        fidelity=fidelity,
        names=(first, second),
    )
    files = {} if out is None else {"page": found.report(out)}
    return Answer(found.to_json, partial(_echo, found), files)


def _side(
    found: Any, dataset: Any, settings: dict[str, Any], named: Iterator[str]
) -> tuple[ExplanationSet, Any]:
    """A run, with its model where it has none in memory: the next that was named."""
    from gnninterpreter import api
    from gnninterpreter.explanation import ExplanationSet
    from gnninterpreter.references import load_run_model
    from gnninterpreter.report import live_classifier

    if isinstance(found, ExplanationSet):
        name = next(named, None)
        model = load_run_model(found, name, dataset)
        if name is not None and model is not None:  # Two models are easily taken for each other.
            live_classifier(found, model, dataset, forward=settings["forward"])
        return found, model
    return api.explain(found, dataset, **settings), None


def _echo(found: Comparison) -> None:
    from gnninterpreter.report.comparison import comparison_rows, overall_lines, words

    # Two runs may have one name.
    first, second = (f"{letter}: {name}" for letter, name in zip("AB", found.names, strict=True))
    columns = {"": "fold", first: "fold", second: "fold"}
    for one in found.classes:
        print_table(f"{one.name}: {words(one)}", columns, comparison_rows(one), lines=True)
    for line in overall_lines(found):
        typer.echo(line)
