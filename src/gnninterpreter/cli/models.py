"""``gnninterpreter models``: which classifiers ship with the package, and how good they are."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from gnninterpreter.cli.answering import Answer
from gnninterpreter.cli.options import Json
from gnninterpreter.cli.output import print_table

if TYPE_CHECKING:
    from gnninterpreter.models import Bundle

PER_CLASS = ("f1", "roc_auc")


def models(as_json: Json = False) -> Answer:
    """List the classifiers that ship with the package.

    Each can be explained by its name: `gnninterpreter explain shape`.
    """
    return Answer(_values, _echo_table)


def _values() -> list[dict[str, Any]]:
    from gnninterpreter.models import bundled_names, load

    return [_described(load(name)) for name in bundled_names()]


def _described(bundle: Bundle) -> dict[str, Any]:
    return {
        "name": bundle.name,
        "dataset": bundle.dataset_name,
        "architecture": type(bundle.model).__name__,
        "parameters": sum(parameter.numel() for parameter in bundle.model.parameters()),
        "classes": list(bundle.spec.class_names),
        "scores": {part: scores.to_json() for part, scores in bundle.scores.items()},
    }


def _echo_table() -> None:
    """Read the descriptions alone: to load a model takes PyTorch, which takes seconds itself."""
    folder = resources.files("gnninterpreter") / "models" / "checkpoints"
    files = sorted(f.name for f in folder.iterdir() if f.name.endswith(".json"))
    rows = []
    for described in (json.loads((folder / name).read_text("utf-8")) for name in files):
        parts = described["scores"]
        scores: dict[str, Any] = parts.get("test") or next(iter(parts.values()), {})
        each = ("\n".join(f"{v:.2f}" for v in _known(scores, name)) for name in PER_CLASS)
        told = [f"{name} {value:.3f}" for name, value in _figures(scores).items()]
        told += [f"{scores['count']:,} graphs"] if scores else []
        classes = "\n".join(described["spec"]["class_names"])
        rows.append([described["name"], classes, *each, "\n".join(told)])
    columns = {"name": "left", "class, label or value": "left"}
    columns |= dict.fromkeys(("F1", "AUC", "on its test part"), "right")
    print_table("Bundled models", columns, rows, lines=True)


def _known(scores: Mapping[str, Any], name: str) -> list[float]:
    return [math.nan if value is None else value for value in scores.get(name, ())]


def _figures(scores: Mapping[str, Any]) -> dict[str, float]:
    """The figures of `gnninterpreter.models.scores`, which a test holds this to."""
    if "rmse" in scores:
        return {"RMSE": scores["rmse"], "MAE": scores["mae"], "R2": scores["r2"]}
    found = {"accuracy": scores["accuracy"]} if scores else {}
    areas = [area for area in _known(scores, "roc_auc") if not math.isnan(area)]
    if len(scores.get("roc_auc", ())) > 1:
        return {"ROC-AUC": statistics.fmean(areas), **found}
    return {**found, "ROC-AUC": areas[0]} if areas else found
