"""Question 3: do look-alikes of what defines a class turn graphs of other classes into it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch_geometric.data import Data

from gnninterpreter.audit.context import Context
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity
from gnninterpreter.audit.hosts import attach
from gnninterpreter.graphs import random_graphs

__all__ = ["FlipRate", "flip_rate", "lookalike_findings"]

HIGH, MEDIUM, LOW = 0.5, 0.2, 0.05
FOOLING = 0.5
KEPT = 200


@dataclass(frozen=True)
class FlipRate:
    """How often a part, joined by one edge, makes the model say a class that is not there.

    Args:
        part: What was joined.
        rate: Share of the hosts for which the model now says the class, and is wrong by the rule
            (where there is none: now says the class).
        says: Share for which it now says the class, rightly or not.
        count: Number of hosts.
        fooled: The joined graphs on which it is wrong, with their true class where known.
    """

    part: Data
    rate: float
    says: float
    count: int
    fooled: tuple[Data, ...]


def flip_rate(part: Data, target: int, hosts: list[Data], context: Context) -> FlipRate:
    """Join a part to each host, at the same nodes for every part of a size, and ask the model."""
    generator = context.generator(17)
    directed = context.classifier.spec.directed
    joined = [attach(host, part, generator, directed) for host in hosts]
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


def lookalike_findings(
    source: Data,
    what: str,
    target: int,
    context: Context,
    make: Callable[[Data], list[Data]],
) -> tuple[list[Finding], str]:
    """Join look-alikes of a graph to graphs of other classes and count the flips.

    Args:
        source: What to imitate.
        what: What it is, in words.
        target: The class it stands for.
        context: The model under audit.
        make: Makes the look-alikes.

    Returns:
        At most one finding, and what was asked in a short sentence.
    """
    name = context.names[target]
    made = [g for g in make(source) if context.oracle is None or context.truth(g) != target]
    if not made:
        return [], f"{what}: no look-alike that is not of the class itself"
    hosts = _hosts(target, context)
    rates = [flip_rate(part, target, hosts, context) for part in made]
    rates.sort(key=lambda found: -found.rate)
    best = rates[0]
    random = flip_rate(_random_part(best.part, context), target, hosts, context)
    original = flip_rate(source, target, hosts, context)
    fooling = sum(found.rate >= FOOLING for found in rates)
    asked = (
        f"{what}: {fooling} of {len(rates)} look-alikes pass for \u201c{name}\u201d on most of "
        f"{best.count} hosts, the strongest on {best.rate:.0%}"
    )
    severity = _severity(best.rate)
    if severity is None:
        return [], asked
    rule = "" if context.oracle is not None else ", though whether it is one nobody can tell,"
    sentence = (
        f"{len(rates)} graphs were made in which nodes see the same neighbours as in {what} but "
        f"which are not it. Joined by one edge to graphs of other classes, {fooling} of them make "
        f"the model{rule} say \u201c{name}\u201d more often than not; the strongest does so in "
        f"{best.rate:.0%} of {best.count} cases. A random graph with as many nodes and edges does "
        f"so in {random.says:.0%}, {what} itself in {original.says:.0%}."
    )
    shown = [Evidence(source, what), Evidence(context.labelled(best.part), "the look-alike")]
    if best.fooled:
        shown.append(Evidence(best.fooled[0], f"joined: the model says {name}"))
    return [
        Finding(
            Kind.LOOKALIKE,
            severity.at_most(context.gravest),
            name,
            f"Look-alikes of {what} pass for \u201c{name}\u201d",
            sentence,
            weight=best.rate * (1 + fooling / len(rates)),
            numbers={
                "look-alikes": len(rates),
                "fooling": fooling,
                "strongest flip rate": round(best.rate, 4),
                "random flip rate": round(random.says, 4),
                "original flip rate": round(original.says, 4),
                "hosts": best.count,
            },
            evidence=tuple(shown),
            graphs=tuple(graph for found in rates for graph in found.fooled)[:KEPT],
        )
    ], asked


def _severity(rate: float) -> Severity | None:
    if rate >= HIGH:
        return Severity.HIGH
    if rate >= MEDIUM:
        return Severity.MEDIUM
    return Severity.LOW if rate >= LOW else None


def _hosts(target: int, context: Context) -> list[Data]:
    """Graphs that are not of a class and that the model does not take for it either."""
    said = context.predict(context.hosts)[0].tolist()
    found = []
    for host, prediction in zip(context.hosts, said, strict=True):
        label = int(host.y) if host.get("y") is not None else context.truth(host)
        if prediction != target and label != target:
            found.append(host)
    return found


def _random_part(source: Data, context: Context) -> Data:
    """A random graph with as many nodes and edges and the same nodes."""
    spec = context.classifier.spec
    n = max(int(source.num_nodes or 0), 2)
    density = min(source.edge_index.size(1) / (n * (n - 1)), 1.0)
    drawn = random_graphs(
        spec, 1, n, context.generator(23), density=density, dtype=context.classifier.dtype
    ).to_data_list()[0]
    if drawn.num_nodes == source.num_nodes:
        order = torch.randperm(n, generator=context.generator(29))
        drawn.x = source.x[order]
    return drawn
