"""Question 3, second half: do look-alikes turn graphs of other classes into a class?

They are held against random graphs of the same sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from gnninterpreter.audit.context import Context, in_turn
from gnninterpreter.audit.findings import MOSTLY, Evidence, Finding, Kind, Severity, told
from gnninterpreter.audit.lookalikes import ColoredGraph, lookalikes
from gnninterpreter.evidence.joining import join_each
from gnninterpreter.graphs import random_graphs
from gnninterpreter.spec.data import node_count
from gnninterpreter.spec.derived import cleared, completed

LARGEST_P = 0.02
# One or two hosts more than random graphs win are no finding, however few hosts there are; one or
# two look-alikes that pass by themselves are a small one.
LEAST = 3
KEPT = 200
EACH = 8
# Random graphs to compare with, at the fewest: then even a single look-alike can be told from them.
CONTROLS = 59
DEPTH = 3


@dataclass(frozen=True)
class Flips:
    """How often a part, joined by one edge to ``count`` hosts, makes the model say a class.

    It says so of ``says`` hosts, rightly or not. ``fooled`` are the joined graphs for which the
    rule does not (where there is none: all of them), with their class where that is known.
    """

    part: Data
    says: int
    count: int
    fooled: tuple[Data, ...]

    @property
    def rate(self) -> float:
        """Share of the hosts on which the model is fooled."""
        return len(self.fooled) / max(self.count, 1)


def matched_p_value(sets: Sequence[Sequence[int]]) -> float:
    """Probability of a sum as high as that of the first numbers, were they like the others.

    A permutation test on matched sets: if in each set any number could as well have been the first,
    the sum of one number drawn from each set is as high as this with the probability returned. It
    is exact, since the sums of all draws are counted.

    Example:
        >>> matched_p_value([[3, 0, 1, 2]])
        0.25
    """
    chance = np.ones(1)
    for counts in sets:
        chance = np.convolve(chance, np.bincount(counts) / len(counts))
    observed = sum(counts[0] for counts in sets)
    return float(min(chance[observed:].sum(), 1.0))


@dataclass(frozen=True)
class Comparison:
    """What the flips of look-alikes of one source come to.

    There are as many random graphs of the same size for each, the controls. ``alone`` where they
    were asked about as they are, rather than joined to others.
    """

    flips: Sequence[Flips]
    controls: Sequence[Sequence[Flips]]
    original: Flips
    what: str
    name: str
    alone: bool

    @property
    def ranked(self) -> list[Flips]:
        """The look-alikes, the strongest first."""
        return sorted(self.flips, key=lambda one: -one.rate)

    @property
    def fooling(self) -> int:
        """How many look-alikes pass more often than not."""
        return sum(one.rate >= MOSTLY for one in self.flips)

    @property
    def rate(self) -> float:
        """Mean rate of the look-alikes."""
        return mean_rate(self.flips)

    @property
    def chance(self) -> float:
        """Mean rate of the random graphs."""
        return mean_rate([one for matched in self.controls for one in matched])

    @property
    def p_value(self) -> float:
        """How probable so many flips are, were look-alikes like random graphs of their size."""
        counts = [
            [len(first.fooled), *(len(one.fooled) for one in rest)]
            for first, rest in zip(self.flips, self.controls, strict=True)
        ]
        return matched_p_value(counts)

    @property
    def severity(self) -> Severity | None:
        """By how much they pass more often than random graphs do; None where that may be chance."""
        excess = self.rate - self.chance
        if not self.alone and excess * self.original.count < LEAST - 1e-9:
            return None
        found = Severity.of_share(excess)
        if found is None or self.p_value > LARGEST_P:
            return None
        return found.at_most(Severity.LOW) if self.alone and len(self.flips) < LEAST else found

    @property
    def short(self) -> str:
        """What was asked and answered, in a short sentence."""
        passing = f"{self.fooling} of {len(self.flips)}"
        if not self.alone:
            passing += f" on most of {self.original.count} hosts, on {self.rate:.0%} on average"
        return (
            f"{self.what}: look-alikes that pass for \u201c{self.name}\u201d: {passing}; random "
            f"graphs: {self.chance:.0%}"
        )

    def sentence(self, made: dict[str, int], context: Context) -> str:
        """Say what was done and found, why it matters, and what to do."""
        listed = ", ".join(_counted(count, family) for family, count in made.items())
        return told("lookalike", found=self, listed=listed, context=context, mostly=MOSTLY)


def mean_rate(flips: Sequence[Flips]) -> float:
    """Mean share of the hosts on which the model is fooled."""
    return sum(one.rate for one in flips) / len(flips)


def _counted(count: int, family: str) -> str:
    """A number of look-alikes of a family, whose name begins with a plural."""
    if count == 1:
        family = family.replace("covers", "cover").replace("switches", "switch")
    return f"{count} {family}"


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
    sentence = found.sentence({family: len(ones) for family, ones in asked.items()}, context)
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
        n = max(node_count(part), 2)
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
