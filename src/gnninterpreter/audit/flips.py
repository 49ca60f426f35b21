"""Question 3, second half: do look-alikes turn graphs of other classes into a class?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from gnninterpreter.audit.comparison import Comparison, Flips, mean_rate
from gnninterpreter.audit.context import Context, in_turn
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity
from gnninterpreter.audit.lookalikes import ColoredGraph, lookalikes
from gnninterpreter.evidence.joining import join_each
from gnninterpreter.graphs import random_graphs
from gnninterpreter.spec.derived import cleared, completed

KEPT = 200
EACH = 8
# Random graphs to compare with, at the fewest: then even a single look-alike can be told from them.
CONTROLS = 59
DEPTH = 3


def count_flips(part: Data, target: int, hosts: list[Data] | None, context: Context) -> Flips:
    """Join a part to each host, at the same nodes for every part of a size, and ask the model.

    Without hosts (None) the model is asked about the part as it is.
    """
    spec = context.classifier.spec
    joined = [part] if hosts is None else join_each(spec, hosts, part, context.seed)
    said = zip(joined, context.predict(joined)[0].tolist(), strict=True)
    ruled = [(graph, context.class_by_rule(graph)) for graph, label in said if label == target]
    # Where there is a rule, what it cannot judge counts for nothing.
    fine = (target,) if context.oracle is None else (target, None)
    fooled = (context.labeled(graph, label) for graph, label in ruled if label not in fine)
    return Flips(part, len(ruled), len(joined), tuple(fooled))


def families(source: Data, context: Context) -> dict[str, list[Data]]:
    """Look-alikes of a graph in three families, from the hardest to tell to the easiest."""
    layers = sum(isinstance(m, MessagePassing) for m in context.classifier.model.modules()) or DEPTH
    spec = context.classifier.spec
    directed, source = spec.directed, cleared(source, spec)

    def made(kind: str, depth: int = 1) -> list[Data]:
        return lookalikes(
            source, kind=kind, depth=depth, limit=EACH, seed=context.seed, directed=directed
        )

    found = {
        "double covers": made("cover"),
        f"switches that no network of depth {layers} sees": made("switch", layers),
    }
    deep = [ColoredGraph.from_data(g, directed) for graphs in found.values() for g in graphs]
    found["switches with the same colored degrees"] = [
        graph
        for graph in made("switch")
        if not any(ColoredGraph.from_data(graph, directed).same(one) for one in deep)
    ]
    return {
        name: [completed(graph, spec) for graph in graphs]
        for name, graphs in found.items()
        if graphs
    }


def lookalike_findings(
    source: Data,
    what: str,
    target: int,
    context: Context,
) -> tuple[list[Finding], str, dict[str, float]]:
    """Join look-alikes of a graph to graphs of other classes and count the flips.

    Where classes are about graphs as a whole, the look-alikes are asked about as they are. Each is
    compared with random graphs of its own size. Gives at most one finding, what was asked in a
    short sentence, and the mean flip rate of each family, of ``"random graphs"`` and of the source
    ``"itself"``.
    """
    name = context.names[target]
    made = families(source, context)
    if not made:
        why = "no cycle, or over 30 nodes, and no two edges to exchange"
        return [], f"{what}: no look-alikes ({why})", {}
    ruled, fine = context.oracle is not None, (target, None)
    apart = {
        family: kept
        for family, graphs in made.items()
        if (kept := [g for g in graphs if not ruled or context.class_by_rule(g) not in fine])
    }
    if not apart:
        return [], f"{what}: all its look-alikes are of the class themselves, by the rule", {}
    hosts = None if context.whole else _hosts(target, context)
    if hosts == []:
        return [], f"{what}: no graph of another class to join its look-alikes to", {}
    asked = {f: [count_flips(g, target, hosts, context) for g in gs] for f, gs in apart.items()}
    flips = [one for family in asked.values() for one in family]
    controls = [
        [count_flips(part, target, hosts, context) for part in parts]
        for parts in _random_parts([one.part for one in flips], context)
    ]
    original = count_flips(source, target, hosts, context)
    found = Comparison(flips, controls, original, what, name, hosts is None)
    measured = {family: round(mean_rate(ones), 4) for family, ones in asked.items()}
    itself = round(original.says / original.count, 4)
    measured |= {"random graphs": round(found.chance, 4), "itself": itself}
    severity = found.severity
    if severity is None:
        return [], found.short, measured
    sentence = found.sentence(
        {family: len(ones) for family, ones in asked.items()}, context.rule if ruled else None
    )
    if ruled and context.class_by_rule(source) != target:
        # That the model is wrong about the source itself is a finding of its own.
        severity = severity.at_most(Severity.MEDIUM)
        sentence += f" By {context.rule} {what} is not of the class itself."
    strongest = found.ranked[0]
    shown = [Evidence(source, what)]
    if hosts is not None:
        shown.append(Evidence(context.labeled(strongest.part), "the strongest look-alike"))
    if strongest.fooled:
        told, first = "a look-alike" if hosts is None else "joined", strongest.fooled[0]
        shown.append(Evidence(first, f"{told}: the model says {name}{context.ruled(first)}"))
    finding = Finding(
        Kind.LOOKALIKE,
        severity.at_most(context.gravest),
        name,
        f"Look-alikes of {what} pass for \u201c{name}\u201d",
        sentence,
        weight=found.rate * (1 + found.fooling / len(flips)),
        numbers={
            "look-alikes": len(flips),
            "fooling": found.fooling,
            "mean flip rate": round(found.rate, 4),
            "strongest flip rate": round(strongest.rate, 4),
            "random flip rate": round(found.chance, 4),
            "p-value": float(f"{found.p_value:.2g}"),
            "original flip rate": itself,
            "hosts": len(hosts or []),
        },
        evidence=tuple(shown),
        graphs=in_turn([one.fooled for one in found.ranked], KEPT),
    )
    return [finding], found.short, measured


def _hosts(target: int, context: Context) -> list[Data]:
    """Graphs that are not of a class and that the model does not take for it either."""
    said = context.predict(context.hosts)[0].tolist()
    found = []
    for host, prediction in zip(context.hosts, said, strict=True):
        label = int(host.y) if host.get("y") is not None else context.class_by_rule(host)
        if prediction != target and label != target:
            found.append(host)
    return found


def _random_parts(parts: Sequence[Data], context: Context) -> list[list[Data]]:
    """For each part as many random graphs, with its number of nodes, its density and its nodes."""
    spec, generator = context.classifier.spec, context.generator(23)
    each = math.ceil(CONTROLS / len(parts))
    found = []
    for part in parts:
        n = max(int(part.num_nodes or 0), 2)
        density = min(part.edge_index.size(1) / (n * (n - 1)), 1.0)
        drawn = random_graphs(
            spec, each, n, generator, density=density, dtype=context.classifier.dtype
        ).to_data_list()
        for one in drawn:
            # Nodes without an edge are left out, so that it may have fewer.
            if one.num_nodes == part.num_nodes:
                one.x = part.x[torch.randperm(n, generator=generator)]
        found.append([completed(one, spec) for one in drawn])
    return found
