"""Questions 2 and 4: does the rule disagree, and is there a class that is said of nearly all?"""

from __future__ import annotations

from collections import Counter

import torch
from torch_geometric.data import Data

from gnninterpreter.audit.context import Context
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity, told
from gnninterpreter.evidence.evidence import written
from gnninterpreter.evidence.reaching import percent
from gnninterpreter.evidence.thresholds import OUTLYING_PERCENTILE, PROBABLE
from gnninterpreter.explanation import Explanation
from gnninterpreter.graphs import random_graphs

SIZES = (4, 6, 9, 13, 18, 24)
EACH = 50
DEFAULT_SHARE = 0.8
WRONG_SHARE = 0.5
SHOWN, SHOWN_RANDOM = 3, 2


def default_class(context: Context) -> tuple[list[Finding], str]:
    """Ask the model about random graphs from small to large and from sparse to dense.

    A default class by itself is no mistake: "none of the patterns" is one by design. Where the rule
    says that most of those graphs are something else, it is.
    """
    graphs = random_questions(context)
    if not graphs:
        return [], "random graphs: none of them can have the derived features"
    said, probabilities = context.predict(graphs)
    counts = torch.bincount(said, minlength=len(context.names)).double() / len(graphs)
    favorite = int(counts.argmax())
    share, name = float(counts[favorite]), context.names[favorite]
    asked = f"random graphs: {share:.0%} of {len(graphs)} are said to be \u201c{name}\u201d"
    if share < DEFAULT_SHARE:
        return [], asked
    mine = [graph for graph, one in zip(graphs, said.tolist(), strict=True) if one == favorite]
    certain = float(probabilities[said == favorite, favorite].mean())
    severity, wrong, rate, other = Severity.LOW, [], None, ""
    numbers: dict[str, float | int | str] = {
        "share": round(share, 4),
        "mean probability": round(certain, 4),
        "random graphs": len(graphs),
    }
    if context.oracle is not None:
        labels = [context.class_by_rule(graph) for graph in mine]
        fine = (favorite, None)
        wrong = [context.labeled(g, t) for g, t in zip(mine, labels, strict=True) if t not in fine]
        rate = len(wrong) / len(mine)
        numbers["wrong by rule"] = round(rate, 4)
        if rate >= WRONG_SHARE:
            severity = Severity.MEDIUM
            others = Counter(t for t in labels if t is not None and t != favorite)
            other = context.names[others.most_common(1)[0][0]]
    sentence = told(
        "default_class",
        name=name,
        total=len(graphs),
        sizes=SIZES,
        share=share,
        certain=certain,
        rule=context.rule,
        wrong=rate,
        right=None if rate is None else percent(1 - rate),
        other=other,
        noted=numbers.get("wrong by rule", 1.0),
    )
    return [
        Finding(
            Kind.DEFAULT_CLASS,
            severity,
            name,
            f"\u201c{name}\u201d is the default",
            sentence,
            weight=share,
            numbers=numbers,
            evidence=tuple(
                Evidence(graph, f"a random graph: the model says {name}{context.ruled(graph)}")
                for graph in (wrong or mine)[:SHOWN_RANDOM]
            ),
            graphs=tuple(wrong),
        )
    ], asked


def random_questions(context: Context) -> list[Data]:
    """The random graphs to ask about: as many of each size, each with a density of its own."""
    generator = context.generator(31)
    spec, dtype = context.classifier.spec, context.classifier.dtype
    drawn = [random_graphs(spec, EACH, size, generator, dtype=dtype) for size in SIZES]
    return [graph for batch in drawn for graph in batch[batch.possible].to_data_list()]


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
    sentence = told(
        "disagreement",
        found=_graphs(len(modes)),
        count=len(modes),
        name=name,
        least=PROBABLE,
        wrong=len(wrong),
        given=written(best.probability),
        other=other,
        outlying=outlying,
        context=context,
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
