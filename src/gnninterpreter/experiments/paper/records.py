"""Explanations and graphs as plain JSON values, for the store of units, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch_geometric.data import Data

from gnninterpreter.chem.valencies import MUTAG_VALENCIES
from gnninterpreter.experiments.metrics import Yardstick, diversity, likeness, measure
from gnninterpreter.experiments.paper.units import bundle, classifier
from gnninterpreter.explanation import Explanation

__all__ = ["graph_from_json", "graph_to_json", "record"]

LEAST = 0.9
SHOWN = 8


def record(
    explanation: Explanation, dataset: str, real: list[Data] | None = None
) -> dict[str, Any]:
    """What studies need to know of an explanation, whatever method found it.

    Args:
        explanation: Of any method.
        dataset: Name of the data set.
        real: Labelled graphs; with them all metrics are taken.
    """
    from gnninterpreter import datasets

    model, target = classifier(dataset), explanation.target.index
    best = explanation.best
    modes = explanation.modes(LEAST)
    spread = diversity(model, [mode.graph for mode in modes]) if modes else None
    found: dict[str, Any] = {
        **explanation.summary(),
        "best": graph_to_json(best),
        "modes": [
            {"probability": m.probability, "share": m.share, "graph": graph_to_json(m.graph)}
            for m in modes[:SHOWN]
        ],
        "num_modes": len(modes),
        "spread": None if spread is None else asdict(spread),
    }
    if explanation.num_edges:
        scores = model.score_data([best])
        alike = likeness(model, bundle(dataset).statistics, best, target)
        oracle = datasets.dataset_class(dataset).oracle
        found |= {
            "logit": float(scores.logits[0, target]),
            "likeness": asdict(alike),
            "oracle": explanation.spec.class_names[oracle(best)],
        }
    if real is not None:
        yardstick = Yardstick(
            model,
            bundle(dataset).statistics,
            real,
            MUTAG_VALENCIES if dataset == "mutag" else None,
            datasets.dataset_class(dataset).oracle,
        )
        found["metrics"] = asdict(measure(explanation, yardstick))
    return found


def graph_to_json(graph: Data) -> dict[str, Any]:
    """A graph as lists of numbers.

    Example:
        >>> graph = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> graph_from_json(graph_to_json(graph)).edge_index.tolist()
        [[0, 1], [1, 0]]
    """
    edges = graph.get("edge_attr")
    return {
        "x": graph.x.tolist(),
        "edge_index": graph.edge_index.tolist(),
        "edge_attr": None if edges is None else edges.tolist(),
    }


def graph_from_json(values: Mapping[str, Any]) -> Data:
    """Read what `graph_to_json` wrote."""
    graph = Data(
        x=torch.tensor(values["x"], dtype=torch.float32),
        edge_index=torch.tensor(values["edge_index"], dtype=torch.long).reshape(2, -1),
    )
    if values["edge_attr"] is not None:
        graph.edge_attr = torch.tensor(values["edge_attr"], dtype=torch.float32)
    graph.num_nodes = len(values["x"])
    return graph
