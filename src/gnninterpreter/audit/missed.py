"""Question 3, first half: does the model see the pattern that defines a class?

The pattern is put into graphs of other classes that the model gets right, and the rule says what
they are now.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.audit.context import Context, in_turn
from gnninterpreter.audit.findings import MOSTLY, Evidence, Finding, Kind, Severity, told
from gnninterpreter.audit.patterns import Pattern
from gnninterpreter.evidence.joining import join_each

KEPT = 200


@dataclass(frozen=True)
class Asked:
    """What came of one variant of a pattern: the graphs asked about, and the wrong answers."""

    name: str
    graph: Data
    total: int
    wrong: tuple[tuple[Data, int, int, float], ...]

    @property
    def rate(self) -> float:
        """Share of wrong answers."""
        return len(self.wrong) / self.total if self.total else 0.0


def missed_findings(pattern: Pattern, context: Context) -> tuple[list[Finding], str]:
    """Put every variant of a pattern into graphs, and compare what model and rule say."""
    hosts = [] if pattern.whole else _hosts(pattern, context)
    if context.oracle is None or not (hosts or pattern.whole):
        return [], f"{pattern.what}: no graph to put them into that the model gets right"
    asked = [_ask(name, graph, pattern, hosts, context) for name, graph in pattern.variants.items()]
    total, wrong = sum(one.total for one in asked), sum(len(one.wrong) for one in asked)
    worst = max(asked, key=lambda one: one.rate)
    rate = wrong / total if pattern.whole else worst.rate
    short = f"{pattern.what}: wrong about {wrong} of {total} graphs"
    if not pattern.whole:
        short += f" with one put in, most often with {worst.name} ({worst.rate:.0%})"
    severity = Severity.of_share(rate)
    if severity is None or not wrong:
        return [], short
    return [_finding(pattern, asked, worst, rate, severity, len(hosts), context)], short


def contrasts(pattern: Pattern, context: Context) -> list[Data]:
    """Graphs with a pattern truly in them, made as look-alikes are joined, with their true class.

    Training with look-alikes alone teaches a model that whatever is joined to a graph does not
    count; with both it has to find the difference.
    """
    hosts = [] if pattern.whole else list(context.pool or context.hosts)
    target = context.classifier.spec.class_index(pattern.class_name)
    made = [
        graph
        for variant in pattern.variants.values()
        for graph in _pasted(variant, pattern, hosts, context)
        if context.class_by_rule(graph) == target
    ]
    step = max(len(made) // KEPT, 1)
    return [context.labeled(graph, target) for graph in made[::step][:KEPT]]


def _finding(
    pattern: Pattern,
    asked: list[Asked],
    worst: Asked,
    rate: float,
    severity: Severity,
    hosts: int,
    context: Context,
) -> Finding:
    names = context.names
    answers = [answer for one in asked for answer in one.wrong]
    label, said = Counter((t, s) for _, t, s, _ in answers).most_common(1)[0][0]
    own = names[label] == pattern.class_name
    total = sum(one.total for one in asked)
    often = "most" if rate >= MOSTLY else "some"
    what = pattern.what[:1].upper() + pattern.what[1:]
    title = f"{what} make it say \u201c{names[said]}\u201d wrongly"
    if own:
        title = f"Misses {pattern.what} in {often} graphs"
    if own and pattern.whole:
        title = f"Wrong about {often} {pattern.what}"
    sentence = told(
        "missed",
        pattern=pattern,
        asked=asked,
        worst=worst,
        total=total,
        wrong=len(answers),
        fooling=sum(one.rate >= MOSTLY for one in asked),
        own=own,
        label=names[label],
        said=names[said],
        context=context,
    )
    shown = sorted(worst.wrong, key=lambda one: -one[3])[:2]
    evidence = [] if pattern.whole else [Evidence(worst.graph, worst.name)]
    evidence += [
        Evidence(g, f"the model says {names[s]} ({p:.3f}), by {context.rule} {names[t]}")
        for g, t, s, p in shown
    ]
    return Finding(
        Kind.MISSED,
        severity.at_most(context.gravest),
        pattern.class_name,
        title,
        sentence,
        weight=rate,
        numbers={
            "wrong share": round(rate, 4),
            "wrong graphs": len(answers),
            "graphs asked": total,
            "variants": len(asked),
            **({} if pattern.whole else {"hosts": hosts, "worst variant": worst.name}),
        },
        evidence=tuple(evidence),
        graphs=in_turn([[graph for graph, *_ in one.wrong] for one in asked], KEPT),
    )


def _ask(name: str, graph: Data, pattern: Pattern, hosts: list[Data], context: Context) -> Asked:
    graphs = [graph] if pattern.whole else _pasted(graph, pattern, hosts, context)
    said, probabilities = context.predict(graphs)
    wrong = []
    for made, answer, row in zip(graphs, said.tolist(), probabilities, strict=True):
        label = context.class_by_rule(made)
        if label is not None and label != answer:
            wrong.append((context.labeled(made, label), label, answer, float(row[answer])))
    return Asked(name, graph, len(graphs), tuple(wrong))


def _pasted(graph: Data, pattern: Pattern, hosts: list[Data], context: Context) -> list[Data]:
    if pattern.paste is None:
        return join_each(context.classifier.spec, hosts, graph, context.seed)
    streams = (np.random.default_rng([context.seed, n]) for n in range(len(hosts)))
    return [pattern.paste(host, graph, rng) for host, rng in zip(hosts, streams, strict=True)]


def _hosts(pattern: Pattern, context: Context) -> list[Data]:
    """Graphs of the classes that a pattern may be put into, the model being right about them."""
    pool = list(context.pool or context.hosts)
    said = context.predict(pool)[0].tolist()
    allowed = set(pattern.hosts) or set(context.names) - {pattern.class_name}
    found = [
        host
        for host, answer in zip(pool, said, strict=True)
        if context.names[answer] in allowed and answer == context.class_by_rule(host)
    ]
    return found[: len(context.hosts)]
