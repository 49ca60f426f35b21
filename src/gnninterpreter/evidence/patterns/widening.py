"""Pieces whose kinds of nodes are left open: what cores become where kinds say nothing.

Where the model goes by structure, the same structure is found once for every way its nodes can be
coloured, and each of those is rare. So structures that were found in several colourings are tried
with all kinds open. A kind is then put back where the piece tells as much with it; and, the other
way round, of the piece as it is those kinds are opened without which it tells more, since two kinds
may say nothing but together. What is still open stays so only if it tells clearly more than the
best single colouring, and if the pieces it takes in besides make the model lean to the class by
themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gnninterpreter.evidence.patterns.choices import Choice, choices, loose, opened
from gnninterpreter.evidence.patterns.pieces import (
    CLEARLY,
    LEANING,
    Candidate,
    CoreSearch,
    Telling,
)
from gnninterpreter.evidence.patterns.real import RealGraphs, some
from gnninterpreter.evidence.patterns.typed import Typed, alike
from gnninterpreter.objective.target import Target
from gnninterpreter.spec import Block
from gnninterpreter.typicality.pieces import cut

STRUCTURES, COLOURINGS, ASKED = 8, 4, 48
# A kind is said where that costs at most this share of what the piece tells.
SPARED = 0.05
# Share of the pieces it takes in of which the model must say the class by themselves.
LIKELY = 0.8


def widened(
    real: RealGraphs,
    pieces: Sequence[Candidate],
    target: Target,
    bar: float,
    search: CoreSearch,
    telling: Telling,
) -> list[Candidate]:
    """Pieces with open kinds that describe the model better than those of given kinds.

    Args:
        real: The real graphs.
        pieces: Pieces of given kinds, no two the same.
        target: What is asked for.
        bar: What counts as certain.
        search: How they are looked for.
        telling: How much patterns tell.
    """
    groups = _structures(pieces)
    if not groups:
        return []
    rng = np.random.default_rng([search.seed, target.index, 2])
    wanted = telling.wanted(pieces)
    found = []
    # No piece tells more than one bit.
    for group in groups[: STRUCTURES * (wanted <= 1)]:
        group = sorted(group, key=lambda one: not one.certain)[:COLOURINGS]
        known = [(telling(one.typed, one.inside), one) for one in group]
        (least, before), base = max(known, key=lambda entry: (entry[1].certain, entry[0][0]))
        blocks = real.classifier.spec.nodes
        ways = _closed(base.typed, telling, blocks), _opened(base.typed, telling, blocks)
        pattern, bits, held = max(ways, key=lambda way: way[1])
        if loose(pattern) and bits >= max(wanted, CLEARLY * least):
            new = np.flatnonzero(held & ~before).tolist()
            taken = [telling.asked[i] for i in some(new, ASKED, rng)]
            if not base.leaning or _likely(real, pattern, taken, target, bar):
                found.append(replace(base, typed=pattern, inside=()))
    return found


def _structures(pieces: Sequence[Candidate]) -> list[list[Candidate]]:
    """Pieces of the same structure, the one with the most of them first.

    Kinds and ranges of numbers may differ: hardly two pieces have the same ranges.
    """
    groups = alike([replace(piece.typed.opened(), ranges=()) for piece in pieces])
    found = [[pieces[number] for number in group] for group in groups if len(group) > 1]
    return sorted(found, key=len, reverse=True)


def _closed(
    typed: Typed, told: Telling, blocks: Sequence[Block]
) -> tuple[Typed, float, np.ndarray]:
    """All kinds open but what can be said at no loss; what it tells, and what holds it."""
    every = choices(typed, blocks)
    open_, whole = set(every), opened(typed, every, blocks)
    best, held = told(whole)
    if best < 0:
        return typed, best, held
    if len(every) > len(typed):
        # Where columns are said one by one, the first that says something may do for the others.
        alone = {one: told(opened(typed, open_ - {one}, blocks), [whole])[0] for one in every}
        every.sort(key=lambda one: -alone[one])
    most = best
    for one in every:
        wider = opened(typed, open_, blocks)
        bits, there = told(opened(typed, open_ - {one}, blocks), [wider])
        if bits >= (1 - SPARED) * most:
            open_.discard(one)
            best, held, most = bits, there, max(bits, most)
    return opened(typed, open_, blocks), best, held


def _opened(
    typed: Typed, told: Telling, blocks: Sequence[Block]
) -> tuple[Typed, float, np.ndarray]:
    """Only that open which the piece tells more without; as in `_closed`."""
    every = choices(typed, blocks)
    alone = {one: told(opened(typed, {one}, blocks))[0] for one in every}
    open_: set[Choice] = set()
    best, held = told(typed)
    for one in sorted(every, key=lambda one: -alone[one]):
        bits, there = told(opened(typed, open_ | {one}, blocks))
        if bits > (1 + SPARED) * best:
            open_.add(one)
            best, held = bits, there
    return opened(typed, open_, blocks), best, held


def _likely(
    real: RealGraphs, pattern: Typed, graphs: Sequence[int], target: Target, bar: float
) -> bool:
    """Whether the pattern, as it lies in some graphs, makes the model lean to the class."""
    found = real.index_of(graphs).match(pattern)
    places = zip(found.where, found.places, strict=True)
    pieces = [cut(real.graphs[graphs[i]], nodes) for i, nodes in places]
    if not pieces:  # the limit of steps was reached in all of them
        return False
    given = target.given(real.classifier.score_data(pieces))
    share = float((given >= min(bar, LEANING)).double().mean())
    return share >= LIKELY
