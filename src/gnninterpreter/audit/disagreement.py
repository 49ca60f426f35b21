"""Question 2: the model is certain, and the rule of the data set disagrees."""

from __future__ import annotations

from gnninterpreter.audit.context import Context
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity
from gnninterpreter.evidence.evidence import written
from gnninterpreter.evidence.thresholds import OUTLYING_PERCENTILE, PROBABLE
from gnninterpreter.explanation import Explanation

SHOWN = 3


def disagreements(explanation: Explanation, context: Context) -> tuple[list[Finding], str]:
    """Ask the rule about every distinct graph that the restarts found for a class.

    A graph that is unlike the class's real graphs even to the model is a lesser finding: the model
    was asked about something it has never seen.
    """
    name = explanation.name
    modes = [mode for mode in explanation.modes(PROBABLE) if mode.graph.num_edges]
    if not modes:
        return [], f"{name}: no graph was found that the model is certain of"
    if context.oracle is None:
        return [], f"{name}: {_graphs(len(modes))} found, and there is no rule to ask"
    ruled = ((mode, context.class_by_rule(mode.graph)) for mode in modes)
    mine = explanation.target.index
    wrong = [(mode, label) for mode, label in ruled if label is not None and label != mine]
    asked = f"{name}: the rule contradicts {len(wrong)} of {_graphs(len(modes))} found for it"
    if not wrong:
        return [], asked
    percentile = explanation.similarity_percentile
    outlying = percentile is not None and percentile < OUTLYING_PERCENTILE
    severity = (Severity.MEDIUM if outlying else Severity.HIGH).at_most(context.gravest)
    best, label = wrong[0]
    other = context.names[label]
    sentence = (
        f"The search found {_graphs(len(modes))} that the model takes for \u201c{name}\u201d with "
        f"a probability of at least {PROBABLE}"
    )
    if len(modes) > 1:
        verb = "is" if len(wrong) == 1 else "are"
        sentence += f"; by {context.rule} {len(wrong)} of them {verb} something else"
    sentence += (
        f". {'The one shown first' if len(modes) > 1 else 'It'} gets {written(best.probability)}, "
        f"and by {context.rule} it is \u201c{other}\u201d."
    )
    if not context.exact:
        sentence += f" That rule agrees with {context.agreement} of the labels."
    if outlying:
        sentence += (
            " It is unlike the real graphs of the class, to the model as well, so that this says "
            "what the model does far from its data."
        )
    sentence += (
        f" So a high probability for \u201c{name}\u201d alone proves nothing. Add the graphs to "
        "the training data, or check what the model says."
    )
    return [
        Finding(
            Kind.DISAGREEMENT,
            severity,
            name,
            f"Certain of \u201c{name}\u201d where {context.rule} says \u201c{other}\u201d",
            sentence,
            weight=best.probability * len(wrong) / len(modes),
            numbers={
                "probability": round(best.probability, 4),
                "wrong graphs": len(wrong),
                "distinct graphs": len(modes),
            },
            evidence=tuple(
                Evidence(
                    context.labeled(mode.graph, label),
                    f"p({name}) = {mode.probability:.3f}, by {context.rule} {context.names[label]}",
                )
                for mode, label in wrong[:SHOWN]
            ),
            graphs=tuple(context.labeled(mode.graph, label) for mode, label in wrong),
        )
    ], asked


def _graphs(count: int) -> str:
    return "one graph" if count == 1 else f"{count} distinct graphs"
