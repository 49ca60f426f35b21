"""Explanations as plain JSON values, for the store."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.chem.elements import MUTAG_VALENCIES
from gnninterpreter.experiments.metrics import (
    Reference,
    SeedSummary,
    diversity,
    likeness,
    measure,
    summarize,
)
from gnninterpreter.experiments.paper.bundled import bundle, classifier
from gnninterpreter.explanation import Explanation
from gnninterpreter.interchange import graph_to_json

LEAST = 0.9
SHOWN = 8


def record(
    explanation: Explanation, dataset: str, real: list[Data] | None = None
) -> dict[str, Any]:
    """What studies need to know of an explanation, whatever method found it."""
    from gnninterpreter import datasets

    model, target, spec = classifier(dataset), explanation.target.index, explanation.spec
    best = explanation.best
    modes = explanation.modes(LEAST)
    differ = diversity(model, [mode.graph for mode in modes]) if modes else None
    found: dict[str, Any] = {
        **explanation.summary(),
        "best": graph_to_json(best, spec),
        "modes": [
            {"probability": m.probability, "share": m.share, "graph": graph_to_json(m.graph, spec)}
            for m in modes[:SHOWN]
        ],
        "num_modes": len(modes),
        "diversity": None if differ is None else asdict(differ),
        "feasible": explanation.restarts[explanation.choice].feasible,
    }
    if explanation.num_edges:
        scores = model.score_data([best])
        alike = likeness(model, bundle(dataset).statistics, best, target)
        oracle = datasets.dataset_class(dataset).oracle
        found |= {
            "logit": float(scores.logits[0, target]),
            "likeness": asdict(alike),
            "oracle": spec.class_names[oracle(best)],
        }
    if real is not None:
        reference = Reference(
            model,
            bundle(dataset).statistics,
            real,
            MUTAG_VALENCIES if dataset == "mutag" else None,
            datasets.dataset_class(dataset).oracle,
        )
        found["metrics"] = asdict(measure(explanation, reference))
    return found


def summarize_records(found: list[dict[str, Any]]) -> SeedSummary:
    """Several of them put together."""
    given = [one["probability"] for one in found]
    seconds = [one["seconds"] for one in found]
    return summarize([one["mean"] for one in given], [one["std"] for one in given], seconds)
