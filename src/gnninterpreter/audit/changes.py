"""Question 5: the smallest change that turns an explanation into another class.

All single changes are tried, and all pairs of them where there are not too many: then the number is
exact. For more, the most promising graphs of each step are kept (a beam), so that the number is an
upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from gnninterpreter.audit.context import Context
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity
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
        for start, told in frontier:
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
                words = (*told, found.words(first))
                best = SmallChange(
                    found.graphs[first], words, int(label[first]), float(sure[first]), exact
                )
            if best is None and count < most:
                for place in _tried(torch.where(usable, scores[:, target], 2.0), count):
                    step = (found.graphs[place], (*told, found.words(place)))
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
    tried = "no smaller change does it" if found.exact else "a smaller one may exist"
    sentence = (
        f"The smallest change was sought that turns the explanation of \u201c{name}\u201d into "
        f"another class. After {steps} ({'; '.join(found.changes)}; {tried}) the model says "
        f"\u201c{other}\u201d with a probability of {found.probability:.3f}."
    )
    if ruled is None:
        sentence += (
            " There is no rule to say which it is. If so small a change should not matter in your "
            f"field, do not rely on \u201c{name}\u201d near this graph."
        )
    else:
        sentence += (
            f" By {context.rule} it is \u201c{context.names[ruled]}\u201d, so the "
            "border is in the wrong place here. Add the changed graph, and others like it, to the "
            "training data."
        )
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


def _tried(values: torch.Tensor, count: int) -> list[int]:
    """Places of the graphs to go on from: all at first, then the lowest probabilities.

    Several times as many as the beam keeps, since equal ones count once there.
    """
    places: list[int] = values.argsort().tolist()
    return places if count == 1 else places[: 4 * BEAM]
