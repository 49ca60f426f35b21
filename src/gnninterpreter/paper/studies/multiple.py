"""Several distinct explanations of each class (paper, figure 6)."""

from __future__ import annotations

from gnninterpreter.evaluation import diversity
from gnninterpreter.paper.figures import Cell, Sheet, outlines
from gnninterpreter.paper.published import CLASSES
from gnninterpreter.paper.study import DATASETS, Outcome, Workshop
from gnninterpreter.paper.tables import Row, Table, Value

__all__ = ["study"]

SHOWN = 5
LEAST = 0.9


def study(workshop: Workshop) -> Outcome:
    """Draw the distinct graphs that the restarts found, and say how much they differ."""
    rows, sheets = [], []
    for dataset in DATASETS:
        explained = workshop.explained(dataset)
        drawn = []
        for target in CLASSES[dataset]:
            explanation = explained[target]
            modes = explanation.modes(LEAST)
            cells = [
                Cell(mode.graph, explanation.spec, f"p = {mode.probability:.3f}")
                for mode in modes[:SHOWN]
            ]
            drawn.append((target, cells))
            graphs = [mode.graph for mode in modes]
            spread = diversity(workshop.classifier(dataset), graphs) if graphs else None
            rows.append(
                Row(
                    (dataset, target),
                    None,
                    Value(len(modes)),
                    "" if modes else "no restart reached 0.9",
                    {
                        "restarts": len(explanation.restarts),
                        "least probability": min((m.probability for m in modes), default=None),
                        "embedding cosine": None if spread is None else spread.cosine,
                        "WL distance": None if spread is None else spread.distance,
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
