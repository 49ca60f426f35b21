"""Pieces that are enough only in company: what certain pieces share where each alone is rare.

Some models need more of a graph beside what they look for, whatever that is: a ring counts only in
graphs of ten nodes or more. Then every certain piece holds nodes of its own, and hardly any other
graph holds all of it. So certain pieces are cut down further, first by what the model clings to,
then by what tells most. What is left is a core if it turns other graphs when it is joined to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gnninterpreter.evidence.patterns.causes import random_pieces, sufficiency
from gnninterpreter.evidence.patterns.pieces import Candidate, CoreSearch, Telling, gather_pieces
from gnninterpreter.evidence.patterns.real import RealGraphs, some
from gnninterpreter.evidence.patterns.shrinking import removable
from gnninterpreter.evidence.patterns.typed import bits, cut
from gnninterpreter.evidence.patterns.widening import widened
from gnninterpreter.evidence.thresholds import CLEARLY
from gnninterpreter.objective.target import Target

# How many pieces are cut down, and the share of other graphs that must turn with what is left.
TRIED, TURNS = 3, 0.5


def in_company(
    real: RealGraphs,
    known: Sequence[Candidate],
    seeds: Sequence[int],
    target: Target,
    bar: float,
    search: CoreSearch,
    telling: Telling,
) -> list[Candidate]:
    """Pieces that tell clearly more than those known and turn graphs, but are not enough alone.

    Args:
        real: The real graphs.
        known: Pieces that are enough.
        seeds: Numbers of the graphs that these were cut from.
        target: What is asked for.
        bar: What counts as certain.
        search: How they are looked for.
        telling: How much patterns tell.
    """
    wanted = telling.wanted(known)
    if wanted > 1:  # No piece tells more than one bit.
        return []
    pieces = gather_pieces(real, seeds, target, bar, search, enough=False)
    pieces += widened(real, pieces, target, bar, search, telling)
    told = sorted(((telling(p.typed)[0], -len(p.typed), i) for i, p in enumerate(pieces)))
    best = [_most_telling(pieces[i], value, telling) for value, _, i in told[: -TRIED - 1 : -1]]
    rng = np.random.default_rng([search.seed, target.index, 3])
    hosts = some(np.flatnonzero(~real.mine(target)).tolist(), search.changed, rng)
    found: list[Candidate] = []
    for piece, value in best:
        if value < wanted or any(piece.typed.same(other.typed) for other in found):
            continue
        controls = random_pieces(real.graphs, real.typed, len(piece.typed), search.changed, rng)
        joined = [real.graphs[i] for i in hosts]
        put = sufficiency(real.classifier, [piece.data], joined, target, controls, search.seed)
        if put is not None and put.value >= TURNS and put.clearly(CLEARLY):
            given = target.score(real.classifier.score_data([piece.data])).nan_to_num(nan=0.0)
            found.append(
                replace(piece, probability=float(given[0]), certain=float(given[0]) >= bar)
            )
    return found


def _most_telling(piece: Candidate, told: float, telling: Telling) -> tuple[Candidate, float]:
    """Drop nodes, each time the one without which it tells most, as long as it tells no less."""
    while len(piece.typed) > 1:
        whole = (1 << len(piece.typed)) - 1
        parts = [list(bits(whole & ~(1 << n))) for n in bits(removable(piece.typed, whole))]
        values = [telling(piece.typed.part(nodes))[0] for nodes in parts]
        value = max(values, default=-1.0)
        if value < told:
            break
        nodes = parts[values.index(value)]
        piece = replace(piece, data=cut(piece.data, nodes), typed=piece.typed.part(nodes))
        told = value
    return piece, told
