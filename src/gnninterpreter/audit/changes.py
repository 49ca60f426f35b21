"""Question 5: the smallest change that turns an explanation into another class.

All single changes are tried, and all pairs of them where there are not too many: then the number is
exact. For more, the most promising graphs of each step are kept (a beam), so that the number is an
upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from gnninterpreter.audit.context import Context
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity, told
from gnninterpreter.audit.single_changes import single_changes
from gnninterpreter.batches import compact
from gnninterpreter.evidence.patterns.typed import node_kinds
from gnninterpreter.evidence.thresholds import PROBABLE
from gnninterpreter.explanation import Explanation
from gnninterpreter.graphs import DenseGraphs

MOST_CHANGES = 4
BEAM = 6
MOST_PAIRS = 30_000

Step = tuple[DenseGraphs, tuple[str, ...]]


@dataclass(frozen=True)
class SmallChange:
    """Changes, in words, that the model answers with another class.

    ``exact`` where everything smaller was tried, so that no smaller change does it.
    """

    graph: DenseGraphs
    changes: tuple[str, ...]
    label: int
    probability: float
    exact: bool


def smallest_change(
    graph: DenseGraphs, target: int, context: Context, most: int = MOST_CHANGES
) -> SmallChange | None:
    """Few changes after which the model no longer says a class; the graph stays in one piece.

    Of the fewest found the most certain one, those with rare kinds of nodes last; None where there
    is none of at most ``most``.
    """
    small = compact(graph)
    whole = bool(small.connected().all())
    frontier: list[Step] = [(small, ())]
    exact = True
    for count in range(1, most + 1):
        best: SmallChange | None = None
        most_worth = 0.0
        # Lowest probability first; equal ones are mostly mirror images.
        ranked: dict[float, Step] = {}
        every: list[Step] = []
        for start, before in frontier:
            found = single_changes(start)
            usable = (found.graphs.connected() | (not whole)) & found.graphs.possible
            scores = context.classifier.score(found.graphs).probabilities.nan_to_num(nan=0.0)
            label = scores.argmax(dim=1)
            sure = scores.gather(1, label.unsqueeze(1)).squeeze(1)
            flipped = torch.where(usable & (label != target), sure, -1.0)
            flipped += _common(found.graphs, flipped > 0, context)
            first = int(flipped.argmax())
            if float(flipped[first]) > most_worth:
                most_worth = float(flipped[first])
                words = (*before, found.words(first))
                best = SmallChange(
                    found.graphs[first], words, int(label[first]), float(sure[first]), exact
                )
            if best is None and count < most:
                lowest = torch.where(usable, scores[:, target], 2.0).argsort().tolist()
                # Later several times as many as the beam keeps, since equal ones count once there.
                for place in lowest if count == 1 else lowest[: 4 * BEAM]:
                    step = (found.graphs[place], (*before, found.words(place)))
                    every.append(step)
                    if bool(usable[place]):
                        ranked.setdefault(round(float(scores[place, target]), 9), step)
        if best is not None:
            return best
        if count == 1 and len(every) ** 2 <= MOST_PAIRS:
            frontier = every
        else:
            frontier, exact = [ranked[key] for key in sorted(ranked)[:BEAM]], False
    return None


def small_change_findings(explanation: Explanation, context: Context) -> tuple[list[Finding], str]:
    """Turn an explanation into another class by as little as possible.

    Where the rule still gives the changed graph its old class, or any other than the model now
    says, the model is wrong; where the rule agrees, it has merely drawn its border well.
    """
    name = explanation.name
    mode = explanation.best_dense.to(context.classifier.device)
    start = int(context.predict([explanation.best])[0][0]) if explanation.num_edges else -1
    if start != explanation.target.index:
        return [], f"{name}: no graph of the class to change"
    found = smallest_change(mode, explanation.target.index, context)
    if found is None:
        return [], f"{name}: no change of up to {MOST_CHANGES} steps was found to another class"
    count = len(found.changes)
    other = context.names[found.label]
    steps = "one change" if count == 1 else f"{count} changes"
    changed = found.graph.to_data_list()[0]
    asked = f"{name}: {steps} to \u201c{other}\u201d"
    ruled = context.class_by_rule(changed)
    if ruled == found.label:
        return [], f"{asked}, and the rule agrees"
    certain = found.probability >= PROBABLE
    severity = Severity.LOW
    if ruled is not None and count <= 2:
        severity = (Severity.HIGH if certain and count == 1 else Severity.MEDIUM).at_most(
            context.gravest
        )
    known = {"name": name, "other": other, "ruled": ruled, "context": context}
    sentence = told("small_change", steps=steps, found=found, **known)
    evidence = context.labeled(changed, ruled)
    return [
        Finding(
            Kind.SMALL_CHANGE,
            severity,
            name,
            f"{steps.capitalize()} from \u201c{name}\u201d to \u201c{other}\u201d",
            sentence,
            weight=found.probability / count,
            numbers={
                "changes": count,
                "smallest": "yes" if found.exact else "not known",
                "probability": round(found.probability, 4),
                "new class": other,
            },
            evidence=(
                Evidence(explanation.best, f"p({name}) = {explanation.mode_probability:.3f}"),
                Evidence(evidence, f"p({other}) = {found.probability:.3f}"),
            ),
            graphs=(evidence,),
        )
    ], asked


def _common(graphs: DenseGraphs, asked: torch.Tensor, context: Context) -> torch.Tensor:
    """1 for the graphs asked about that hold no rare kind of node, else 0, [B]."""
    found = torch.zeros(len(graphs), device=asked.device)
    places = asked.nonzero().flatten()
    kinds = node_kinds(graphs[places].to_data_list(), graphs.spec) if len(places) else []
    found[places] = torch.tensor([float(context.common.issuperset(own)) for own in kinds]).to(found)
    return found
