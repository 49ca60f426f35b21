"""What a core can do without: nodes that only make a bare piece look like a whole graph.

Some models are certain of a motif only in company: a piece that makes them certain by itself then
carries nodes that any graph has. Those are dropped as long as the rest tells as much about the
class, and turns other graphs as often when it is joined to them; less often where it tells more.
Graphs that turn with any piece as large do not count. What is left and is no longer enough by
itself must turn most of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.evidence.patterns.causes import random_pieces, sufficiency
from gnninterpreter.evidence.patterns.pieces import Candidate, Telling
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.shrinking import removable
from gnninterpreter.evidence.patterns.typed import Typed, bits, cut
from gnninterpreter.evidence.thresholds import CLEARLY
from gnninterpreter.objective.target import Target
from gnninterpreter.spec.data import node_count

# Share of what a piece tells that may be lost, and how many smaller pieces are joined to graphs.
SPARED, JOINED = 0.05, 4
# Share of other graphs that a part must turn which is not enough by itself.
TURNS = 0.5


def trimmed(
    real: RealGraphs,
    piece: Candidate,
    telling: Telling,
    hosts: Sequence[Data],
    target: Target,
    bar: float,
    least: int = 1,
    seed: int = 0,
) -> Candidate:
    """The smallest part of a piece that does as much.

    Args:
        real: The real graphs.
        piece: The piece.
        telling: How much patterns tell.
        hosts: Graphs of other classes, to join parts to.
        target: What is asked for.
        bar: What counts as certain.
        least: Fewest nodes that are left.
        seed: Of where they are joined.
    """
    turned = _turned(real, piece.data, hosts, target, seed)
    if turned < CLEARLY and piece.certain:
        # What turns no graphs gives nothing to compare parts by.
        return _without_ranges(piece, telling)
    most = first = telling(piece.typed)[0]
    way: list[tuple[float, int, Typed]] = []
    nodes = (1 << len(piece.typed)) - 1
    while most > 0 and nodes.bit_count() > least:
        tried = []
        for node in bits(removable(piece.typed, nodes)):
            left = nodes & ~(1 << node)
            part = piece.typed.part(list(bits(left)))
            tried.append((telling(part)[0], left, part))
        best = max(tried, key=lambda one: one[0], default=None)
        if best is None or best[0] < (1 - SPARED) * most:
            break
        most, nodes = max(most, best[0]), best[1]
        way.append(best)
    enough = [entry for entry in way if entry[0] >= (1 - SPARED) * most][::-1][:JOINED]
    if not enough:
        return _without_ranges(piece, telling)
    kept = [cut(piece.data, list(bits(left))) for _, left, _ in enough]
    wanted = first * (turned - CLEARLY)
    given = target.score(real.classifier.score_data(kept)).nan_to_num(nan=0.0).tolist()
    for (value, _, part), data, score in zip(enough, kept, given, strict=True):
        turns = _turned(real, data, hosts, target, seed)
        if value * turns >= wanted and (score >= bar or turns >= TURNS or not piece.certain):
            return _without_ranges(Candidate(data, part, score, score >= bar), telling)
    return _without_ranges(piece, telling)


def _turned(
    real: RealGraphs, data: Data, hosts: Sequence[Data], target: Target, seed: int
) -> float:
    """Share of the hosts that turn with a piece, beyond those that turn with any piece as large."""
    rng = np.random.default_rng(seed)
    others = random_pieces(real.graphs, real.typed, node_count(data), len(hosts), rng)
    effect = sufficiency(real.classifier, [data], hosts, target, others, seed)
    return 0.0 if effect is None else effect.value - (effect.control or 0.0)


def _without_ranges(piece: Candidate, telling: Telling) -> Candidate:
    """Leave out the ranges of numbers without which it tells as much."""
    most, typed = telling(piece.typed)[0] if piece.typed.ranges else 0.0, piece.typed
    for one in piece.typed.ranges:
        wider = replace(typed, ranges=tuple(other for other in typed.ranges if other != one))
        value = telling(wider)[0]
        if value >= (1 - SPARED) * most:
            most, typed = max(most, value), wider
    return replace(piece, typed=typed)
