"""Every metric of every method through the same code (beyond the paper's one figure)."""

from __future__ import annotations

from typing import Any

from gnninterpreter.experiments.metrics import diversity
from gnninterpreter.experiments.paper.computations import (
    by_our_recipe,
    by_random,
    by_xgnn,
    class_nodes,
)
from gnninterpreter.experiments.paper.settings import Settings, cases
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.paper.tables import Row, Table, Value
from gnninterpreter.experiments.store import Computation
from gnninterpreter.interchange import graph_from_json

COLUMNS = {
    "validation score": "score",
    "granularity": "granularity",
    "density": "density",
    "class density": "class_density",
    "connected": "connected",
    "valencies kept": "valencies",
    "of the class by rule": "oracle",
    "MMD degree": "degree_mmd",
    "MMD clustering": "clustering_mmd",
    "MMD spectrum": "spectrum_mmd",
    "sample cosine": "cosine",
    "distinct samples": "distinct",
    "flips": "flips",
    "flips, control": "control",
}


def computations(settings: Settings) -> list[Computation]:
    """Every class by our recipe, XGNN and random graphs."""
    return [
        work
        for dataset, target in cases()
        for works in _methods(settings, dataset, target).values()
        for work in works
    ]


def study(context: StudyContext) -> Outcome:
    """Put the methods side by side."""
    rows = []
    for dataset, target in cases():
        for method, works in _methods(context.settings, dataset, target).items():
            found = [context.get(work) for work in works]
            measured = [one["metrics"] for one in found if "metrics" in one]
            spec = context.bundle(dataset).spec
            graphs = [graph_from_json(one["best"], spec) for one in found if one["edges"]]
            spread = {}
            if len(graphs) > 1:
                spread = vars(diversity(context.classifier(dataset), graphs))
            rows.append(
                Row(
                    (dataset, target, method),
                    ours=Value(_mean(measured, "probability") or 0.0, _mean(measured, "std")),
                    extra={
                        **{name: _mean(measured, field) for name, field in COLUMNS.items()},
                        "seeds": len(found),
                        "seed cosine": spread.get("cosine"),
                        "distinct over seeds": spread.get("distinct"),
                        "WL distance of seeds": spread.get("distance"),
                    },
                )
            )
    table = Table.of(
        "metrics",
        "Every metric of every method",
        ("data set", "class", "method"),
        rows,
        "Ours is the class probability. MMD: squared discrepancy to real graphs of the class, 0 "
        "for none. Granularity is near 1 for a small part of a typical graph. Flips: share of real "
        "graphs of other classes that the model gives to this one once the most probable graph is "
        "attached to them by one edge; the control attaches connected random graphs of the same "
        "size. The most probable graph of random is the best of its 1,000. Seeds: how many went "
        "into the figures over seeds; the others are means over the first "
        f"{len(context.settings.measured_seeds)}.",
    )
    return Outcome([table])


def _methods(settings: Settings, dataset: str, target: str) -> dict[str, list[Computation]]:
    found = {"ours": [by_our_recipe(settings, dataset, target, seed) for seed in settings.seeds]}
    if dataset in settings.games:
        found["xgnn"] = by_xgnn(settings, dataset, target)
    found["random"] = [by_random(settings, dataset, target, class_nodes(dataset, target))]
    return found


def _mean(measured: list[dict[str, Any]], name: str) -> float | None:
    values = [one[name] for one in measured if one[name] is not None]
    return sum(values) / len(values) if values else None
