"""Cutting certain real graphs down to what the model needs: the candidates for cores.

From a real graph that the model is certain of, the node whose loss costs least is dropped, again
and again, as long as the graph stays in one piece and the model certain. Every graph on that way is
certain and occurs in a real graph, so all the small ones are candidates, not only the last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.parts import Parts
from gnninterpreter.evidence.patterns.typed import Typed, as_bits, bits
from gnninterpreter.objective.target import Target

Margins = Callable[[Sequence[tuple[int, int]]], list[float]]
LEAST = 1
# Up to so many nodes they are dropped one by one; beyond, one of so many of the others at a time.
SINGLY, SHARE = 18, 3
# How often what lies around a random node of a large graph is tried.
TRIED = 6


@dataclass(frozen=True)
class Piece:
    """A certain part of a real graph.

    Args:
        source: Number of the graph.
        nodes: Its nodes there, as bits.
        probability: What the model gives it.
        last: Whether nothing more could be dropped from it.
    """

    source: int
    nodes: int
    probability: float
    last: bool = False


def shrink(
    parts: Parts,
    graphs: Sequence[Typed],
    target: Target,
    bar: float,
    largest: int = 12,
    least: int = LEAST,
    singly: int = SINGLY,
) -> list[Piece]:
    """Shrink graphs while the model stays certain; all of them at once.

    Args:
        parts: The graphs as the model reads them.
        graphs: The same graphs, as kinds.
        target: What is asked for.
        bar: Probability to keep.
        largest: Pieces with more nodes than this are not returned.
        least: Pieces do not become smaller than this.
        singly: Up to so many nodes they are dropped one by one; beyond, some at a time. Of graphs
            two and a half times as large first what lies around some node is tried.

    Returns:
        For each graph the pieces on its way, largest first; the last one is returned whatever its
        size. Nothing for graphs none of whose connected parts is certain to begin with; of several
        the largest is shrunk.

    Raises:
        DataError: If the bar is no probability or pieces may have less than one node.
    """
    if not 0 < bar <= 1:
        raise DataError(f"bar must be a probability above 0 (got {bar})")
    if least < 1:
        raise DataError(f"least must be at least one node (got {least})")
    # A probability of 1 in single precision has a margin of about 17; no bar asks for more.
    needed = math.log(bar) - math.log(max(1 - bar, 4e-8))
    ways: dict[int, list[tuple[int, float]]] = {number: [] for number in range(len(graphs))}
    going: dict[int, int] = {}
    # The largest last.
    left = {n: sorted(graph.pieces(), key=int.bit_count) for n, graph in enumerate(graphs)}
    known: dict[tuple[int, int], float] = {}

    def margins(asked: Sequence[tuple[int, int]]) -> list[float]:
        # What one node less comes to was asked when the cheapest was looked for.
        new = [part for part in asked if part not in known]
        if new:
            known.update(zip(new, parts.margin(new, target).tolist(), strict=True))
        return [known[part] for part in asked]

    while left := {n: pieces for n, pieces in left.items() if pieces and n not in going}:
        going |= _record(margins, needed, {n: p.pop() for n, p in left.items()}, ways)
    many, rng = 5 * singly // 2, np.random.default_rng(0)
    large = {number: nodes for number, nodes in going.items() if nodes.bit_count() > many}
    for size in (singly + 2, 5 * singly // 3):
        asked = [
            (number, _ball(graphs[number], nodes, size, rng))
            for number, nodes in large.items()
            for _ in range(TRIED)
        ]
        best: dict[int, tuple[float, int]] = {}
        for (number, nodes), value in zip(asked, margins(asked), strict=True):
            best[number] = max(best.get(number, (value, nodes)), (value, nodes))
        small = _record(margins, needed, {n: nodes for n, (_, nodes) in best.items()}, ways)
        going |= small
        large = {number: nodes for number, nodes in large.items() if number not in small}
    while going:
        singles = _singles(margins, graphs, going, least)
        whole, going = going, {}
        ranked = {
            number: [node for value, node in found if value >= needed]
            for number, found in singles.items()
        }
        # Many nodes at once where that goes well, else fewer, else one.
        for turn in range(3):
            steps = {
                number: _without(graphs[number], whole[number], nodes, turn, least, singly)
                for number, nodes in ranked.items()
                if nodes and number not in going
            }
            going |= _record(margins, needed, steps, ways)
    found = []
    for number, way in ways.items():
        for place, (nodes, value) in enumerate(way):
            last = place == len(way) - 1
            if last or nodes.bit_count() <= largest:
                found.append(Piece(number, nodes, 1 / (1 + math.exp(-value)), last))
    return found


def _ball(graph: Typed, nodes: int, size: int, rng: np.random.Generator) -> int:
    """So many connected nodes around a random one of more that hang together (all as bits)."""
    choices = list(bits(nodes))
    ball = newest = 1 << choices[int(rng.integers(len(choices)))]
    while ball.bit_count() < size:
        front = graph.around(newest) & ~ball
        newest = as_bits(islice(bits(front), size - ball.bit_count()))
        ball |= newest
    return ball


def removable(graph: Typed, nodes: int) -> int:
    """Those of some connected nodes (all as bits) without any one of which the rest is connected.

    They are the nodes that are no articulation points, found in one walk through the graph.
    """
    if nodes.bit_count() <= 1:
        return 0
    root = next(bits(nodes))
    entered, low = {root: 0}, {root: 0}
    kept = 0
    branches = 0
    stack: list[tuple[int, int, list[int]]] = [(root, -1, list(bits(graph.near[root] & nodes)))]
    while stack:
        node, parent, left = stack[-1]
        if left:
            other = left.pop()
            if other not in entered:
                entered[other] = low[other] = len(entered)
                branches += node == root
                stack.append((other, node, list(bits(graph.near[other] & nodes))))
            elif other != parent:
                low[node] = min(low[node], entered[other])
            continue
        stack.pop()
        if stack:
            above = stack[-1][0]
            low[above] = min(low[above], low[node])
            if above != root and low[node] >= entered[above]:
                kept |= 1 << above
    if branches > 1:
        kept |= 1 << root
    return nodes & ~kept


def _record(
    margins: Margins,
    needed: float,
    asked: dict[int, int],
    ways: dict[int, list[tuple[int, float]]],
) -> dict[int, int]:
    """Ask about one part of each graph; note and return those that are certain."""
    certain = {}
    for (number, nodes), value in zip(asked.items(), margins(list(asked.items())), strict=True):
        if value >= needed:
            ways[number].append((nodes, value))
            certain[number] = nodes
    return certain


def _singles(
    margins: Margins, graphs: Sequence[Typed], going: dict[int, int], least: int
) -> dict[int, list[tuple[float, int]]]:
    """For each graph the nodes it can lose, with the margin after each; cheapest first."""
    asked = [
        (number, node)
        for number, nodes in going.items()
        if nodes.bit_count() > least
        for node in bits(removable(graphs[number], nodes))
    ]
    cut = [(number, going[number] & ~(1 << node)) for number, node in asked]
    found: dict[int, list[tuple[float, int]]] = {}
    for (number, node), value in zip(asked, margins(cut), strict=True):
        found.setdefault(number, []).append((value, node))
    for ranked in found.values():
        ranked.sort(key=lambda entry: (-entry[0], entry[1]))
    return found


def _without(
    graph: Typed, nodes: int, ranked: Sequence[int], turn: int, least: int, singly: int
) -> int:
    """Drop nodes, the cheapest first, as far as the others hang together; fewer in each turn."""
    size = nodes.bit_count()
    most = (size - 5 * singly // 2, (size - singly) // SHARE + 1, 1)
    wanted = min(max(most[turn:]), size - least)
    for node in ranked:
        rest = nodes & ~(1 << node)
        if wanted and graph.connected(rest):
            nodes, wanted = rest, wanted - 1
    return nodes
