"""``gnninterpreter models``: which classifiers ship with the package, and how good they are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from gnninterpreter.models import Bundle

__all__ = ["models"]


def models(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the classifiers that ship with the package.

    Each can be explained by its name: `gnninterpreter explain shape`.
    """
    from gnninterpreter.cli.output import echo_json
    from gnninterpreter.models import bundled_names, load

    bundles = [load(name) for name in bundled_names()]
    if as_json:
        echo_json([_described(bundle) for bundle in bundles])
    else:
        _echo_table(bundles)


def _described(bundle: Bundle) -> dict[str, Any]:
    return {
        "name": bundle.name,
        "dataset": bundle.dataset_name,
        "architecture": type(bundle.model).__name__,
        "parameters": _parameters(bundle),
        "classes": list(bundle.spec.class_names),
        "scores": {part: scores.to_json() for part, scores in bundle.scores.items()},
    }


def _echo_table(bundles: list[Bundle]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Bundled models", title_justify="left", show_lines=True)
    for name in ("name", "data set", "class"):
        table.add_column(name, no_wrap=True)
    table.add_column("F1", justify="right", no_wrap=True)
    table.add_column("accuracy", justify="right", no_wrap=True)
    for bundle in bundles:
        part = "test" if "test" in bundle.scores else next(iter(bundle.scores), None)
        scores = None if part is None else bundle.scores[part]
        table.add_row(
            bundle.name,
            bundle.dataset_name,
            Text("\n".join(bundle.spec.class_names)),
            "" if scores is None else "\n".join(f"{f1:.2f}" for f1 in scores.f1),
            "" if scores is None else f"{scores.accuracy:.3f}\n{part}: {scores.count}",
        )
    Console(file=sys.stdout).print(table)


def _parameters(bundle: Bundle) -> int:
    return sum(parameter.numel() for parameter in bundle.model.parameters())
