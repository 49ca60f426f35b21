"""Several distinct explanations of each class (paper, figure 6)."""

from __future__ import annotations

from gnninterpreter.experiments.paper.figures import Cell, Sheet, outlines
from gnninterpreter.experiments.paper.needs import explained
from gnninterpreter.experiments.paper.published import CLASSES
from gnninterpreter.experiments.paper.records import graph_from_json
from gnninterpreter.experiments.paper.settings import DATASETS, Settings, cases
from gnninterpreter.experiments.paper.study import Outcome, Workshop
from gnninterpreter.experiments.paper.tables import Row, Table, Value
from gnninterpreter.experiments.paper.units import Unit

__all__ = ["study", "units"]

SHOWN = 5


def units(settings: Settings) -> list[Unit]:
    """Every class, explained once."""
    return [explained(settings, dataset, target) for dataset, target in cases()]


def study(workshop: Workshop) -> Outcome:
    """Draw the distinct graphs that the restarts found, and say how much they differ."""
    rows, sheets = [], []
    for dataset in DATASETS:
        spec, drawn = workshop.bundle(dataset).spec, []
        for target in CLASSES[dataset]:
            found = workshop.get(explained(workshop.settings, dataset, target))
            modes, spread = found["modes"], found["spread"] or {}
            cells = [
                Cell(graph_from_json(m["graph"]), spec, f"p = {m['probability']:.3f}")
                for m in modes[:SHOWN]
            ]
            drawn.append((target, cells))
            rows.append(
                Row(
                    (dataset, target),
                    None,
                    Value(found["num_modes"]),
                    "" if modes else "no restart reached 0.9",
                    {
                        "restarts": len(found["restarts"]),
                        "least probability": min((m["probability"] for m in modes), default=None),
                        "embedding cosine": spread.get("cosine"),
                        "WL distance": spread.get("distance"),
                    },
                )
            )
        title = f"{dataset}: distinct explanations{outlines(dataset)}"
        sheets.append(Sheet(f"multiple-{dataset}", title, drawn))
    table = Table(
        "multiple",
        "Distinct explanation graphs of each class",
        ("data set", "class"),
        tuple(rows),
        "Ours is the number of graphs with probability at least 0.9 that no renumbering of nodes "
        "makes equal; cosine and distance are means over pairs of them.",
    )
    return Outcome([table], sheets)
