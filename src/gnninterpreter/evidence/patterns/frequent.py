"""Candidate patterns for an account of the whole model: pieces it needs, and what is around nodes.

The few cores of a class are for reading. To account for every graph more patterns are needed: all
pieces that shrinking leaves of many graphs, and the surroundings of nodes that many graphs share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.matching import PatternIndex
from gnninterpreter.evidence.patterns.pieces import LEANING, CoreSearch, Telling, gather_pieces
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.typed import Typed, alike, bits
from gnninterpreter.evidence.patterns.widening import widened
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.typicality.pieces import cut

LEAST_SHARE = 0.01
SAMPLE = 400


@dataclass(frozen=True)
class Pattern:
    """A connected piece of a real graph.

    Args:
        graph: The piece.
        typed: The same, as kinds.
    """

    graph: Data
    typed: Typed

    def __post_init__(self) -> None:
        """Check that there is something to look for."""
        if len(self.typed) == 0:
            raise DataError("a pattern must have at least one node (got none)")


def gather_patterns(
    real: RealGraphs,
    seeds: int = 200,
    radii: Sequence[int] = (1, 2),
    search: CoreSearch | None = None,
) -> list[Pattern]:
    """Collect patterns that occur in at least one of a hundred real graphs.

    Args:
        real: The real graphs.
        seeds: How many graphs of each class are shrunk.
        radii: Surroundings of nodes up to these distances are taken; none if empty.
        search: How large pieces may be.
    """
    search = search or CoreSearch()
    rng = np.random.default_rng(search.seed)
    found: list[Pattern] = []
    for number, name in enumerate(real.classifier.spec.class_names):
        target = ClassTarget(number, name)
        given = real.given(target)
        leaning = min(LEANING, real.bar(target))
        own = [i for i in real.of(target) if given[i] >= leaning]
        drawn = [own[i] for i in rng.permutation(len(own))[:seeds].tolist()]
        pieces = gather_pieces(real, drawn, target, leaning, search) if drawn else []
        pieces += widened(real, pieces, target, leaning, search, Telling(real, target, search))
        found += [Pattern(piece.data, piece.typed) for piece in pieces]
    for radius in radii:
        found += _surroundings(real, radius, search.largest)
    different = [found[group[0]] for group in alike([pattern.typed for pattern in found])]
    return _frequent(real, different, rng)


def presence(patterns: Sequence[Typed], index: PatternIndex) -> tuple[np.ndarray, int]:
    """Which graphs hold which pattern, [graphs, patterns], and how often that stayed undecided."""
    held = np.zeros((len(index), len(patterns)), dtype=bool)
    undecided = 0
    for column, pattern in enumerate(patterns):
        matches = index.match(pattern)
        held[list(matches.where), column] = True
        undecided += len(matches.undecided)
    return held, undecided


def _surroundings(real: RealGraphs, radius: int, largest: int) -> list[Pattern]:
    """What lies around nodes, where a hundredth of the graphs have the same."""
    seen: dict[int, tuple[int, int, int]] = {}
    for number, graph in enumerate(real.typed):
        last = {colour: node for node, colour in enumerate(graph.refined(radius))}
        for colour, node in last.items():
            count, *first = seen.get(colour, (0, number, node))
            seen[colour] = (count + 1, first[0], first[1])
    found = []
    for count, number, node in seen.values():
        graph = real.typed[number]
        ball = 1 << node
        for _ in range(radius):
            ball |= graph.around(ball)
        if count >= LEAST_SHARE * len(real) and 1 < ball.bit_count() <= 2 * largest:
            nodes = list(bits(ball))
            found.append(Pattern(cut(real.graphs[number], nodes), graph.part(nodes)))
    return found


def _frequent(real: RealGraphs, patterns: list[Pattern], rng: np.random.Generator) -> list[Pattern]:
    """Leave out what a sample says is too rare to learn a rule from."""
    some = rng.permutation(len(real))[:SAMPLE].tolist()
    # What all graphs are asked here need not be asked again.
    index = real.index if len(some) == len(real) else real.index_of(some)
    held, _ = presence([pattern.typed for pattern in patterns], index)
    enough = held.sum(axis=0) >= max(1, LEAST_SHARE / 2 * len(some))
    kept = [pattern for pattern, keep in zip(patterns, enough, strict=True) if keep]
    # Of patterns that tell the same the first is taken, which should be the smallest.
    return sorted(kept, key=lambda pattern: (len(pattern.typed), len(pattern.typed.edges)))
