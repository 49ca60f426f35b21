"""Question 2: the model is certain, and the ground truth disagrees."""

from __future__ import annotations

from gnninterpreter.audit.context import Context
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity
from gnninterpreter.explanation import Explanation

__all__ = ["disagreements"]

CERTAIN = 0.9
OUTLYING = 10.0
SHOWN = 3


def disagreements(explanation: Explanation, context: Context) -> list[Finding]:
    """Ask the rule about every distinct graph that the restarts found for a class.

    A graph that is unlike the class's real graphs even to the model is a lesser finding: the model
    was asked about something it has never seen.
    """
    if context.oracle is None:
        return []
    modes = [mode for mode in explanation.modes(CERTAIN) if mode.graph.num_edges]
    wrong = []
    for mode in modes:
        truth = context.truth(mode.graph)
        if truth is not None and truth != explanation.target:
            wrong.append((mode, truth))
    if not wrong:
        return []
    percentile = explanation.similarity_percentile
    outlying = percentile is not None and percentile < OUTLYING
    severity = (Severity.MEDIUM if outlying else Severity.HIGH).at_most(context.gravest)
    best, truth = wrong[0]
    name = explanation.name
    sentence = (
        f"The model gives this graph {_share(best.probability)} for \u201c{name}\u201d; by the "
        f"rule of the data set it is \u201c{context.names[truth]}\u201d."
    )
    if len(modes) > 1:
        sentence += (
            f" The rule contradicts {len(wrong)} of the {len(modes)} distinct graphs that the "
            "restarts found for this class."
        )
    if outlying:
        sentence += " It is unlike the real graphs of the class, to the model as well."
    return [
        Finding(
            Kind.DISAGREEMENT,
            severity,
            name,
            f"Certain of \u201c{name}\u201d where the rule says \u201c{context.names[truth]}\u201d",
            sentence,
            weight=best.probability * len(wrong) / len(modes),
            numbers={
                "probability": round(best.probability, 4),
                "wrong graphs": len(wrong),
                "distinct graphs": len(modes),
            },
            evidence=tuple(
                Evidence(
                    context.labelled(mode.graph, label),
                    f"p({name}) = {mode.probability:.3f}, by rule {context.names[label]}",
                )
                for mode, label in wrong[:SHOWN]
            ),
            graphs=tuple(context.labelled(mode.graph, label) for mode, label in wrong),
        )
    ]


def _share(value: float) -> str:
    return "over 0.999" if value >= 0.9995 else f"{value:.3f}"
