"""What ships with the package: ``gnninterpreter models`` and ``gnninterpreter data stats``."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from gnninterpreter.cli.options import Json
from gnninterpreter.cli.output import Answer, plainly, print_table

PER_CLASS = ("f1", "roc_auc")
data = typer.Typer(name="data", help="Look at the data sets.", no_args_is_help=True)


def models(as_json: Json = False) -> Answer:
    """List the classifiers that ship with the package.

    Each can be explained by its name: `gnninterpreter explain shape`.
    """
    return Answer(_described, _echo_models)


def _described() -> list[dict[str, Any]]:
    from gnninterpreter.models import bundled_names, load

    return [
        {
            "name": bundle.name,
            "dataset": bundle.dataset_name,
            "architecture": type(bundle.model).__name__,
            "parameters": sum(parameter.numel() for parameter in bundle.model.parameters()),
            "classes": list(bundle.spec.class_names),
            "scores": {part: scores.to_json() for part, scores in bundle.scores.items()},
        }
        for bundle in map(load, bundled_names())
    ]


def _echo_models() -> None:
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


@data.command(name="stats")
@plainly
def stats(
    name: Annotated[str, typer.Argument(help="Name of a data set, or `all`.")],
    root: Annotated[Path | None, typer.Option("--root", help="Folder for the data.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the generator.")] = 0,
    oracle: Annotated[
        int | None, typer.Option("--oracle", help="Graphs to ask the rule about; all when omitted.")
    ] = None,
    as_json: Json = False,
) -> Answer:
    """Count the graphs, nodes, edges and classes of a data set, and ask its rule.

    A data set that is not there yet is generated first, which takes up to half a minute.
    """
    from gnninterpreter import datasets
    from gnninterpreter.datasets import summarize

    names = datasets.NAMES if name == "all" else (name,)
    rows = [
        summarize(datasets.load(each, root, seed, progress=not as_json), oracle_graphs=oracle)
        for each in names
    ]
    return Answer(lambda: rows if name == "all" else rows[0], lambda: _echo_data(rows))


def _echo_data(rows: list[dict[str, Any]]) -> None:
    cells = [
        [
            row["name"],
            "\n".join(f"{name}: {count}" for name, count in row["classes"].items()),
            "\n".join(
                f"{kind}: {', '.join(row[f'{kind}_features'])}"
                for kind in ("node", "edge")
                if row[f"{kind}_features"]
            ),
            f"{row['graphs']:,}",
            f"{row['mean_edges']:.2f}",
            f"{row['mean_nodes']:.2f}",
            "" if row["oracle_agreement"] is None else f"{row['oracle_agreement']:.1%}",
        ]
        for row in rows
    ]
    columns = {"name": "left", "classes": "left", "features": "fold"}
    columns |= dict.fromkeys(("graphs", "edges", "nodes", "oracle"), "right")
    caption = "edges and nodes are means; oracle: how often the rule agrees with the label"
    print_table("Data sets", columns, cells, caption=caption, lines=True)
