"""``gnninterpreter models``: which classifiers ship with the package, and how good they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnninterpreter.cli.options import Json

if TYPE_CHECKING:
    from gnninterpreter.models import Bundle
    from gnninterpreter.models.scores import ModelScores

__all__ = ["models"]

PER_CLASS = ("f1", "roc_auc")


def models(
    as_json: Json = False,
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
    from gnninterpreter.cli.output import print_table

    rows = []
    for bundle in bundles:
        part = "test" if "test" in bundle.scores else next(iter(bundle.scores), None)
        scores = None if part is None else bundle.scores[part]
        each = ("\n".join(f"{v:.2f}" for v in getattr(scores, name, ())) for name in PER_CLASS)
        told = [] if scores is None else [*_figures(scores), f"{scores.count:,} graphs"]
        rows.append([bundle.name, "\n".join(bundle.spec.class_names), *each, "\n".join(told)])
    columns = {"name": "left", "class, label or value": "left"}
    columns |= dict.fromkeys(("F1", "AUC", "on its test part"), "right")
    print_table("Bundled models", columns, rows, lines=True)


def _figures(scores: ModelScores) -> list[str]:
    return [f"{name} {value:.3f}" for name, value in scores.figures.items()]


def _parameters(bundle: Bundle) -> int:
    return sum(parameter.numel() for parameter in bundle.model.parameters())
