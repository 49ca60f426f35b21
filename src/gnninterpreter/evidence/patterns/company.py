"""Pieces that are enough only in company: what certain pieces share where each alone is rare.

Some models need more of a graph beside what they look for, whatever that is: a ring counts only in
graphs of ten nodes or more. Then every certain piece holds nodes of its own, and hardly any other
graph holds all of it. So certain pieces are cut down further, first by what the model clings to,
then by what tells most. What is left is a core if it turns other graphs when it is joined to them,
or if nearly all of the class hold it, hardly any other graph, and the model turns away without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from gnninterpreter.evidence.patterns.causes import random_pieces, sufficiency, taken_out
from gnninterpreter.evidence.patterns.pieces import Candidate, CoreSearch, Telling, cling_to
from gnninterpreter.evidence.patterns.real import RealGraphs, some
from gnninterpreter.evidence.patterns.shrinking import removable
from gnninterpreter.evidence.patterns.typed import bits
from gnninterpreter.evidence.patterns.widening import widened
from gnninterpreter.evidence.thresholds import CLEARLY, COVERING, FAR
from gnninterpreter.objective.target import Target
from gnninterpreter.typicality.pieces import cut

# How many pieces are cut down, and the share of other graphs that must turn with what is left.
TRIED, TURNS = 3, 0.5


def in_company(
    real: RealGraphs,
    known: Sequence[Candidate],
    target: Target,
    bar: float,
    search: CoreSearch,
    telling: Telling,
    grown: Callable[[Candidate], Candidate],
) -> list[Candidate]:
    """Pieces that tell clearly more than those known and turn graphs, but are not enough alone.

    Args:
        real: The real graphs.
        known: Pieces that are enough.
        target: What is asked for.
        bar: What counts as certain.
        search: How they are looked for.
        telling: How much patterns tell.
        grown: Makes a piece larger that tells much and turns few graphs.
    """
    wanted = telling.wanted(known)
    if wanted > 1:  # No piece tells more than one bit.
        return []
    pieces = [piece for piece in cling_to(real, known, target, bar, search) if not piece.certain]
    pieces += widened(real, pieces, target, bar, search, telling)
    values = [telling(piece.typed, piece.inside)[0] for piece in pieces]
    told = sorted((value, -len(pieces[i].typed), i) for i, value in enumerate(values))
    ways = [_way_down(pieces[i], value, telling) for value, _, i in told[: -TRIED - 1 : -1]]
    rng = np.random.default_rng([search.seed, target.index, 3])
    hosts = some(real.others(target), search.changed, rng)
    joined = [real.graphs[i] for i in hosts]
    found: list[Candidate] = []
    for way in ways:
        # The smallest first; larger ones may turn graphs where it does not.
        more = ((one, telling(one.typed)[0]) for one in map(grown, [way[-1][0]]))
        for piece, value in chain(reversed(way), more):
            if value < wanted or any(piece.typed.same(other.typed) for other in found):
                break
            controls = random_pieces(real.graphs, real.typed, len(piece.typed), search.changed, rng)
            put = sufficiency(real.classifier, [piece.data], joined, target, controls, search.seed)
            turns = put is not None and put.value >= TURNS and put.clearly(CLEARLY)
            if turns or _makes(real, piece, target, search, rng):
                given = float(target.given(real.classifier.score_data([piece.data]))[0])
                found.append(replace(piece, probability=given, certain=given >= bar))
                break
    return found


def _makes(
    real: RealGraphs,
    piece: Candidate,
    target: Target,
    search: CoreSearch,
    rng: np.random.Generator,
) -> bool:
    """Whether a piece makes the class and the model turns away without it, if it needs more too."""
    laid, mine = real.laid(piece.typed, target), real.mine(target)
    elsewhere = len(real.index.match(piece.typed).where) - len(laid)
    own, others = len(laid) / mine.sum(), elsewhere / max((~mine).sum(), 1)
    if own < COVERING or own < FAR * others:
        return False
    holders = some(list(laid), search.changed, rng)
    out = taken_out(real, {i: laid[i] for i in holders}, target, rng)
    far, by = TURNS * target.span, CLEARLY * target.span
    return out is not None and out.value >= far and out.clearly(by)


def _way_down(piece: Candidate, told: float, telling: Telling) -> list[tuple[Candidate, float]]:
    """Drop nodes, each time the one without which it tells most, as long as it tells no less."""
    way = [(piece, told)]
    while len(piece.typed) > 1:
        whole = piece.typed.whole
        parts = [list(bits(whole & ~(1 << n))) for n in bits(removable(piece.typed, whole))]
        values = [telling(piece.typed.part(nodes))[0] for nodes in parts]
        value = max(values, default=-1.0)
        if value < told:
            break
        nodes, told = parts[values.index(value)], value
        part = piece.typed.part(nodes)
        piece = replace(piece, data=cut(piece.data, nodes), typed=part, inside=())
        way.append((piece, told))
    return way
