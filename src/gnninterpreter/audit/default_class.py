"""Question 4: is there a class that the model says of nearly everything?"""

from __future__ import annotations

from collections import Counter

import torch
from torch_geometric.data import Data

from gnninterpreter.audit.context import Context
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity
from gnninterpreter.graphs import random_graphs

SIZES = (4, 6, 9, 13, 18, 24)
EACH = 50
DEFAULT_SHARE = 0.8
WRONG_SHARE = 0.5
SHOWN = 2


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
    sentence = (
        f"The model was asked about {len(graphs)} random graphs of {SIZES[0]} to {SIZES[-1]} nodes "
        f"and all densities. It says \u201c{name}\u201d of {share:.0%} of them, with a mean "
        f"probability of {certain:.3f}."
    )
    severity, wrong = Severity.LOW, []
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
            other = Counter(t for t in labels if t != favorite and t is not None).most_common(1)
            sentence += (
                f" By {context.rule} {rate:.0%} of those are something else, mostly "
                f"\u201c{context.names[other[0][0]]}\u201d."
            )
        else:
            sentence += f" By {context.rule} the model is right on {1 - rate:.0%} of those."
    if numbers.get("wrong by rule", 1.0) == 0:
        sentence += (
            f" So that is no mistake, but worth knowing: nearly anything is \u201c{name}\u201d, "
            "and its explanation need not show a pattern. Read those of the other classes."
        )
    else:
        sentence += (
            f" So \u201c{name}\u201d is what the model says where it sees nothing it knows: its "
            "explanation need not show a pattern, and a high probability of it is no evidence. "
            "Read the explanations of the other classes; if such graphs can come up in use, give "
            "it some to learn from."
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
                for graph in (wrong or mine)[:SHOWN]
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
