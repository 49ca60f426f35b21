"""Several distinct explanations of each class (paper, figure 6)."""

from __future__ import annotations

from gnninterpreter.experiments.paper.computations import by_our_recipe
from gnninterpreter.experiments.paper.figures import Cell, outlines, sheet
from gnninterpreter.experiments.paper.published import CLASSES
from gnninterpreter.experiments.paper.settings import DATASETS, Settings, cases
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.paper.tables import Row, Table, Value
from gnninterpreter.experiments.store import Computation

SHOWN = 5


def computations(settings: Settings) -> list[Computation]:
    """Every class, explained once."""
    return [by_our_recipe(settings, dataset, target) for dataset, target in cases()]


def study(context: StudyContext) -> Outcome:
    """Draw the distinct graphs that the restarts found, and say how much they differ."""
    rows, sheets = [], {}
    for dataset in DATASETS:
        spec, drawn = context.bundle(dataset).spec, []
        for target in CLASSES[dataset]:
            found = context.get(by_our_recipe(context.settings, dataset, target))
            modes, differ = found["modes"], found["diversity"] or {}
            cells = [
                Cell.stored(m["graph"], spec, f"p = {m['probability']:.3f}") for m in modes[:SHOWN]
            ]
            drawn.append((target, cells))
            rows.append(
                Row(
                    (dataset, target),
                    ours=Value(found["num_modes"]),
                    note="" if modes else "no restart reached 0.9",
                    extra={
                        "restarts": len(found["restarts"]),
                        "least probability": min((m["probability"] for m in modes), default=None),
                        "embedding cosine": differ.get("cosine"),
                        "WL distance": differ.get("distance"),
                    },
                )
            )
        title = f"{dataset}: distinct explanations{outlines(dataset)}"
        sheets[f"multiple-{dataset}"] = sheet(title, drawn)
    table = Table.of(
        "multiple",
        "Distinct explanation graphs of each class",
        ("data set", "class"),
        rows,
        "Ours is the number of graphs with probability at least 0.9 that no renumbering of nodes "
        "makes equal; cosine and distance are means over pairs of them.",
    )
    return Outcome([table], sheets)
