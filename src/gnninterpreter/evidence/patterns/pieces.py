"""Pieces of real graphs that may become cores, each once, and which of them tell most.

Being certain and small is not enough: a chain of three atoms occurs everywhere and says little. A
piece is worth what its presence tells about whether the model assigns a real graph to the class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.datasets.base import taken
from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.bounds import Bounds
from gnninterpreter.evidence.patterns.choices import loose
from gnninterpreter.evidence.patterns.matching import PatternIndex
from gnninterpreter.evidence.patterns.parts import Parts
from gnninterpreter.evidence.patterns.real import RealGraphs, some
from gnninterpreter.evidence.patterns.shrinking import LEAST, SINGLY, shrink
from gnninterpreter.evidence.patterns.typed import Typed, alike, bits
from gnninterpreter.models.profile import CERTAIN
from gnninterpreter.objective.target import Target
from gnninterpreter.typicality.pieces import cut

LEANING = 0.6
SHORTLIST = 60
# Of each graph so many of its smallest pieces, where numbers count, and most of all graphs.
WAYS, RANGED = 2, 64
# A probability that nothing falls below.
NOTHING = 1e-30
SMALLEST = 40
# Share of the graphs for which the limit on steps may leave it open whether they hold a piece.
UNDECIDED = 0.02
# How many times as much as any other a piece with open kinds, or one that is not certain, must
# tell, and how many bits.
CLEARLY, TOLD = 1.5, 0.05


@dataclass(frozen=True)
class CoreSearch:
    """How cores are looked for.

    Args:
        seeds: Most real graphs that are shrunk.
        count: Most cores returned.
        largest: Most nodes of a core.
        least: Fewest nodes of a core.
        sample: Most graphs, of the class and of the others each, that candidates are ranked on.
        changed: Most graphs that are changed to measure necessity and sufficiency.
        seed: Of every draw.
        small: Whether there is no core where nothing gets small; else the smallest there is will
            do.
        singly: Up to so many nodes graphs lose them one by one.
        company: Whether pieces are looked for, too, that are enough only in company, and what
            others need there.
    """

    seeds: int = 64
    count: int = 5
    largest: int = 12
    least: int = LEAST
    sample: int = 250
    changed: int = 64
    seed: int = 0
    small: bool = False
    singly: int = SINGLY
    company: bool = True

    def __post_init__(self) -> None:
        """Check that there is something to do."""
        for name in ("seeds", "count", "least", "sample", "changed"):
            if getattr(self, name) < 1:
                raise DataError(f"{name} must be at least 1 (got {getattr(self, name)})")
        if self.largest < self.least:
            raise DataError(
                f"largest must be at least least = {self.least} nodes (got {self.largest})"
            )


@dataclass(frozen=True)
class Candidate:
    """A piece that may become a core.

    Args:
        data: As PyG reads it.
        typed: As kinds.
        probability: What the model gives it.
        certain: Whether that is as much as is asked for.
        inside: Other pieces that it holds, the largest first.
    """

    data: Data
    typed: Typed
    probability: float
    certain: bool
    inside: tuple[Typed, ...] = ()

    @property
    def leaning(self) -> bool:
        """Whether it makes the model lean to the class by itself."""
        return self.certain or self.probability >= LEANING


class Telling:
    """How much patterns tell about whether the model assigns a graph to a target, in some graphs.

    Args:
        real: The real graphs.
        target: What is asked for.
        search: How many graphs are looked at: half as many as for choosing.
    """

    def __init__(self, real: RealGraphs, target: Target, search: CoreSearch) -> None:
        """Draw the graphs."""
        rng = np.random.default_rng([search.seed, target.index, 1])
        few = (search.sample + 1) // 2
        own = some(real.of(target), few, rng)
        self.asked = own + some(real.others(target), few, rng)
        self._own, self._index = len(own), real.index_of(self.asked)

    def __call__(self, pattern: Typed, inside: Sequence[Typed] = ()) -> tuple[float, np.ndarray]:
        """Bits that a pattern tells, and which graphs hold it; -1 where that stays open.

        ``inside`` are patterns that it holds; see `PatternIndex.match`.
        """
        held = np.zeros(len(self.asked), dtype=bool)
        matches = self._index.match(pattern, inside=inside)
        held[list(matches.where)] = True
        if len(matches.undecided) > UNDECIDED * len(self.asked):
            return -1.0, held
        shares = [part.mean() if part.size else 0.0 for part in np.split(held, [self._own])]
        return float(gain(np.array(shares[0]), np.array(shares[1]))), held

    def wanted(self, pieces: Sequence[Candidate]) -> float:
        """Bits that tell clearly more than the smallest of some pieces, or more than there are."""
        most = TOLD
        for one in sorted(pieces, key=lambda one: len(one.typed))[:SMALLEST]:
            most = max(most, CLEARLY * self(one.typed, one.inside)[0])
            if most > 1:  # no piece tells more than one bit, so that none tells clearly more
                break
        return most


def gather_pieces(
    real: RealGraphs, seeds: Sequence[int], target: Target, bar: float, search: CoreSearch
) -> list[Candidate]:
    """Shrink real graphs to pieces that are enough for the class by themselves, each once.

    Args:
        real: The real graphs.
        seeds: Numbers of those to shrink.
        target: What is asked for.
        bar: What counts as certain; where it is less than .99, pieces go on until the model leaves
            the class.
        search: How large pieces may be.
    """
    graphs = taken(real.graphs, seeds)
    typed = [real.typed[i] for i in seeds]
    floor = bar if bar >= CERTAIN else min(bar, LEANING)
    return _shrunk(real, graphs, typed, target, bar, search, floor)


def cling_to(
    real: RealGraphs, known: Sequence[Candidate], target: Target, bar: float, search: CoreSearch
) -> list[Candidate]:
    """Cut pieces down further than what is enough: what is left longest the model clings to."""
    some_ = sorted(known, key=lambda one: len(one.typed))[: search.seeds]
    graphs, typed = [one.data for one in some_], [one.typed for one in some_]
    return _shrunk(real, graphs, typed, target, bar, search, NOTHING)


def _shrunk(
    real: RealGraphs,
    graphs: Sequence[Data],
    typed: Sequence[Typed],
    target: Target,
    bar: float,
    search: CoreSearch,
    floor: float,
) -> list[Candidate]:
    """Shrink graphs and leave out pieces that are the same but for the order of their nodes."""
    parts = Parts(real.classifier, graphs)
    pieces = shrink(parts, typed, target, floor, search.largest, search.least, search.singly)
    small = [piece for piece in pieces if piece.nodes.bit_count() <= search.largest]
    pieces = small or [piece for piece in pieces if piece.last and not search.small]
    if any(one.values or one.edge_values for one in typed):
        # Where numbers count every piece is another, so only the smallest of each graph are taken.
        last = {piece.source: place for place, piece in enumerate(pieces)}
        near = [i for i, piece in enumerate(pieces) if last[piece.source] - i < WAYS]
        near = near[:: max(1, -(-len(near) // RANGED))]
        pieces = [pieces[i] for i in near]
    places = [list(bits(piece.nodes)) for piece in pieces]
    parted = [typed[p.source].part(nodes) for p, nodes in zip(pieces, places, strict=True)]

    def data_of(number: int) -> Data:
        return cut(graphs[pieces[number].source], places[number])

    if floor > NOTHING and any(one.values or one.edge_values for one in typed):
        bounds = Bounds(real, target, real.of(target), floor, search.seed)
        parted = bounds([(data_of(i), one) for i, one in enumerate(parted)])
    groups = alike(parted)
    first = {number: group[0] for group in groups for number in group}
    ways: dict[int, list[int]] = {}
    for number, piece in enumerate(pieces):
        ways.setdefault(piece.source, []).append(number)
    candidates = []
    for number in (group[0] for group in groups):
        way, p = ways[pieces[number].source], pieces[number].probability
        # What the graph was shrunk to after it lies in it, unless numbers have other ranges there.
        after = [parted[first[i]] for i in way if i > number and not parted[i].ranges]
        candidates.append(Candidate(data_of(number), parted[number], p, p >= bar, tuple(after)))
    return candidates


def choose(
    real: RealGraphs,
    candidates: list[Candidate],
    target: Target,
    search: CoreSearch,
    rng: np.random.Generator,
    trim: Callable[[Candidate], Candidate] | None = None,
) -> list[Candidate]:
    """One after the other the candidate that tells most about graphs that none yet covers.

    Args:
        real: The real graphs.
        candidates: What to choose from.
        target: What is asked for.
        search: How many are wanted, and how many graphs they are ranked on.
        rng: Draws those graphs.
        trim: Makes a chosen piece smaller.
    """
    own = some(real.of(target), search.sample, rng)
    others = some(real.others(target), search.sample, rng)
    if len(candidates) > SHORTLIST:
        # A few graphs rule out most candidates, which then need not be looked for in all.
        few = search.sample // 5 or 1
        fewer = [each[:: max(1, len(each) // few)] for each in (own, others)]
        held = _held(real.index_of([*fewer[0], *fewer[1]]), candidates)
        mine = np.arange(held.shape[1]) < len(fewer[0])
        told = _told(held, mine, np.ones(mine.size, dtype=bool))
        ranked: list[int] = np.argsort(-told, kind="stable").tolist()
        keep = set(ranked[:SHORTLIST])
        keep |= set([i for i in ranked if candidates[i].certain][: SHORTLIST // 2])
        keep |= {i for i in ranked if loose(candidates[i].typed)}
        candidates = [candidate for i, candidate in enumerate(candidates) if i in keep]
    index = real.index_of([*own, *others])
    held, mine = _held(index, candidates), np.arange(len(index)) < len(own)
    sizes = np.array([len(candidate.typed) for candidate in candidates])
    certain = np.array([candidate.certain for candidate in candidates])
    leaning = np.array([candidate.leaning for candidate in candidates])
    open_kinds = np.array([loose(candidate.typed) for candidate in candidates])
    open_ = np.ones(mine.size, dtype=bool)
    chosen: list[Candidate] = []
    while len(chosen) < search.count and (open_ & mine).any():
        told = _told(held, mine, open_)
        first = leaning if chosen or not certain.any() else certain
        if first.any():
            # One that is not enough by itself is taken where it tells clearly more.
            enough = max(TOLD, CLEARLY * float(told[first].max()))
            told = np.where(first | (told >= enough), told, -1.0)
        wanted = max(TOLD, CLEARLY * float(told[open_kinds == 0].max(initial=0.0)))
        told = np.where((open_kinds == 0) | (told >= wanted), told, -1.0)
        # Of patterns that tell about the same the smaller, then the one that says more kinds, then
        # the one in more graphs.
        held_by = (held & mine & open_).sum(axis=1)
        worth = np.round(told / max(float(told.max()), 1e-9), 1)
        best = int(np.lexsort((-held_by, open_kinds, sizes, -worth))[0])
        if chosen and (told[best] <= 0.005 or held_by[best] < 2):
            break
        piece, there = candidates[best], held[best]
        if trim is not None:
            piece = trim(piece)
            there = _held(index, [piece])[0]
        # What comes to the same as one before says nothing new.
        if not any(piece.typed.same(other.typed) for other in chosen):
            chosen.append(piece)
        open_ &= ~(there | held[best])
        held[best] = False
    return chosen


def _held(index: PatternIndex, candidates: Sequence[Candidate]) -> np.ndarray:
    """Which graphs hold which candidate, [candidates, graphs]."""
    held = np.zeros((len(candidates), len(index)), dtype=bool)
    # The smallest first: what lacks one of these is not asked about those that hold it.
    for row in sorted(range(len(candidates)), key=lambda i: len(candidates[i].typed)):
        matches = index.match(candidates[row].typed, inside=candidates[row].inside)
        held[row, list(matches.where)] = True
    return held


def _told(held: np.ndarray, mine: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Bits that each candidate tells about the class of some of the graphs."""
    own, others = held[:, among & mine], held[:, among & ~mine]
    elsewhere = others.mean(axis=1) if others.shape[1] else np.zeros(len(held))
    return gain(own.mean(axis=1), elsewhere)


def gain(own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Bits that presence tells about the class, where class and others count the same.

    Args:
        own: Share of the class that holds each pattern.
        others: Share of the others that does.

    Returns:
        Mutual information; negative where the pattern speaks against the class.
    """
    both = (own + others) / 2
    told = _entropy(both) - (_entropy(own) + _entropy(others)) / 2
    return np.asarray(np.where(own >= others, told, -told))


def _entropy(p: np.ndarray) -> np.ndarray:
    q = np.clip(p, 1e-12, 1 - 1e-12)
    return np.asarray(-(q * np.log2(q) + (1 - q) * np.log2(1 - q)))
