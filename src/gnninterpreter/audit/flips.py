"""Question 3, second half: do look-alikes turn graphs of other classes into a class?"""

from __future__ import annotations

import torch
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from gnninterpreter.audit.coloured import ColouredGraph
from gnninterpreter.audit.context import Context
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity
from gnninterpreter.audit.lookalikes import lookalikes
from gnninterpreter.audit.passing import FlipRate, Passing
from gnninterpreter.evidence.joining import join_each
from gnninterpreter.graphs import random_graphs

__all__ = ["families", "flip_rate", "lookalike_findings"]

KEPT = 200
EACH = 8
CONTROLS = 5
DEPTH = 3


def flip_rate(part: Data, target: int, hosts: list[Data] | None, context: Context) -> FlipRate:
    """Join a part to each host, at the same nodes for every part of a size, and ask the model.

    Args:
        part: What to join.
        target: The class that the model should not say.
        hosts: Graphs to join it to; None asks about the part as it is.
        context: The model under audit.
    """
    spec = context.classifier.spec
    joined = [part] if hosts is None else join_each(spec, hosts, part, context.seed)
    if not joined:
        return FlipRate(part, 0.0, 0.0, 0, ())
    said = (context.predict(joined)[0] == target).tolist()
    fooled = []
    for graph, yes in zip(joined, said, strict=True):
        truth = context.truth(graph) if yes else None
        if yes and truth != target:
            fooled.append(context.labelled(graph, truth))
    return FlipRate(
        part, len(fooled) / len(joined), sum(said) / len(joined), len(joined), tuple(fooled)
    )


def families(source: Data, context: Context) -> dict[str, list[Data]]:
    """Look-alikes of a graph in three families, from the hardest to tell to the easiest.

    Args:
        source: The graph to imitate.
        context: The model, whose depth matters, and the seed.
    """
    layers = sum(isinstance(m, MessagePassing) for m in context.classifier.model.modules()) or DEPTH
    directed = context.classifier.spec.directed

    def made(kind: str, depth: int = 1) -> list[Data]:
        return lookalikes(
            source, kind=kind, depth=depth, limit=EACH, seed=context.seed, directed=directed
        )

    found = {
        "double covers": made("cover"),
        f"switches that no network of depth {layers} sees": made("switch", layers),
    }
    deep = [ColouredGraph.from_data(g, directed) for graphs in found.values() for g in graphs]
    found["switches with the same coloured degrees"] = [
        graph
        for graph in made("switch")
        if not any(ColouredGraph.from_data(graph, directed).isomorphic(one) for one in deep)
    ]
    return {name: graphs for name, graphs in found.items() if graphs}


def _apart(graphs: list[Data], target: int, context: Context) -> list[Data]:
    """Those that are not of a class by the rule; all where there is none."""
    return [g for g in graphs if context.oracle is None or context.truth(g) != target]


def lookalike_findings(
    source: Data,
    what: str,
    target: int,
    context: Context,
    made: dict[str, list[Data]] | None = None,
) -> tuple[list[Finding], str, dict[str, float]]:
    """Join look-alikes of a graph to graphs of other classes and count the flips.

    Where classes are about graphs as a whole, the look-alikes are asked about as they are.

    Args:
        source: What to imitate.
        what: What it is, in words.
        target: The class it stands for.
        context: The model under audit.
        made: Look-alikes by family; made here when omitted.

    Returns:
        At most one finding, what was asked in a short sentence, and the highest flip rate of each
        family, of random graphs (``"random graphs"``) and of the source (``"itself"``).
    """
    name = context.names[target]
    made = families(source, context) if made is None else made
    if not made:
        why = "no cycle, or over 30 nodes, and no two edges to exchange"
        return [], f"{what}: no look-alikes ({why})", {}
    kept = {family: _apart(graphs, target, context) for family, graphs in made.items()}
    kept = {family: graphs for family, graphs in kept.items() if graphs}
    if not kept:
        return [], f"{what}: all its look-alikes are of the class themselves, by the rule", {}
    hosts = None if context.whole else _hosts(target, context)
    if hosts == []:
        return [], f"{what}: no graph of another class to join its look-alikes to", {}
    asked = {f: [flip_rate(g, target, hosts, context) for g in gs] for f, gs in kept.items()}
    rates = sorted((one for ones in asked.values() for one in ones), key=lambda one: -one.rate)
    count = min(len(rates), CONTROLS)
    controls = [
        flip_rate(part, target, hosts, context)
        for part in _random_parts(rates[0].part, count, context)
    ]
    control = max(controls, key=lambda one: one.rate)
    original = flip_rate(source, target, hosts, context)
    measured = {f: round(max(one.rate for one in ones), 4) for f, ones in asked.items()}
    measured |= {"random graphs": round(control.rate, 4), "itself": round(original.says, 4)}
    verdict = Passing(rates, controls, control, original, what, name, hosts is None)
    severity = verdict.severity
    if severity is None:
        return [], verdict.short, measured
    sentence = verdict.sentence({f: len(ones) for f, ones in asked.items()}, bool(context.oracle))
    if context.oracle is not None and context.truth(source) != target:
        # That the model is wrong about the source itself is a finding of its own.
        severity = severity.at_most(Severity.MEDIUM)
        sentence += f" By the rule {what} is not of the class itself."
    shown = [Evidence(source, what)]
    if hosts is not None:
        shown.append(Evidence(context.labelled(rates[0].part), "the strongest look-alike"))
    if rates[0].fooled:
        told = "a look-alike" if hosts is None else "joined"
        first = rates[0].fooled[0]
        rule = "" if first.get("y") is None else f", by rule {context.names[int(first.y)]}"
        shown.append(Evidence(first, f"{told}: the model says {name}{rule}"))
    finding = Finding(
        Kind.LOOKALIKE,
        severity.at_most(context.gravest),
        name,
        f"Look-alikes of {what} pass for \u201c{name}\u201d",
        sentence,
        weight=verdict.rate * (1 + verdict.fooling / len(rates)),
        numbers={
            "look-alikes": len(rates),
            "fooling": verdict.fooling,
            "strongest flip rate": round(verdict.rate, 4),
            "random flip rate": round(verdict.chance, 4),
            "original flip rate": round(original.says, 4),
            "hosts": len(hosts or []),
        },
        evidence=tuple(shown),
        graphs=_spread(rates),
    )
    return [finding], verdict.short, measured


def _hosts(target: int, context: Context) -> list[Data]:
    """Graphs that are not of a class and that the model does not take for it either."""
    said = context.predict(context.hosts)[0].tolist()
    found = []
    for host, prediction in zip(context.hosts, said, strict=True):
        label = int(host.y) if host.get("y") is not None else context.truth(host)
        if prediction != target and label != target:
            found.append(host)
    return found


def _spread(rates: list[FlipRate]) -> tuple[Data, ...]:
    """The graphs that fooled the model, as many as are kept, all look-alikes in turn."""
    turns = max(len(one.fooled) for one in rates)
    found = [one.fooled[i] for i in range(turns) for one in rates if i < len(one.fooled)]
    return tuple(found[:KEPT])


def _random_parts(source: Data, count: int, context: Context) -> list[Data]:
    """Random graphs with as many nodes and edges and, where they match, the same nodes."""
    spec = context.classifier.spec
    n = max(int(source.num_nodes or 0), 2)
    density = min(source.edge_index.size(1) / (n * (n - 1)), 1.0)
    generator = context.generator(23)
    drawn = random_graphs(
        spec, count, n, generator, density=density, dtype=context.classifier.dtype
    ).to_data_list()
    for one in drawn:
        if one.num_nodes == source.num_nodes:
            one.x = source.x[torch.randperm(n, generator=generator)]
    return drawn
