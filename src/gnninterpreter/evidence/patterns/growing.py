"""What a core needs besides: nodes without which it is enough alone, and not among others.

A model may be certain of a part of what it goes by, as long as the part is all there is: of four
nodes of a clique of five, say, where graphs have hundreds. Joined to other graphs such a part turns
none of them. So it takes in a neighbour that the graphs of the class have there, too, as long as it
tells about as much and each makes it turn clearly more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from gnninterpreter.evidence.patterns.choices import loose
from gnninterpreter.evidence.patterns.pieces import Candidate
from gnninterpreter.evidence.patterns.trimming import TURNS, Trimming
from gnninterpreter.evidence.patterns.typed import ANY, Typed, alike, as_bits, bits
from gnninterpreter.evidence.thresholds import CLEARLY
from gnninterpreter.typicality.pieces import cut

# Graphs that are looked at for neighbours, and the most frequent of these that are tried.
LOOKED_AT, TRIED = 24, 6
# Bits that a piece tells which most of the class hold and few others: what it is a part of may be
# what the class is about.
MAKING = 0.4
# Share of what a piece tells that must be left with each.
LEFT = 0.8


@dataclass(frozen=True)
class Growing:
    """Makes a piece larger where it turns few graphs, and then as small as it can be.

    Args:
        trim: Trims it, and knows which graphs it turns.
        largest: Most nodes.
    """

    trim: Trimming
    largest: int

    def __call__(self, piece: Candidate) -> Candidate:
        """Grow and trim a piece."""
        return self.trim(self.grown(piece))

    def grown(self, piece: Candidate) -> Candidate:
        """Grow a piece."""
        told = self.trim.telling(piece.typed)[0]
        if told < MAKING:
            return piece
        turned = self.trim.turned(piece.data)
        while turned < TURNS and len(piece.typed) < self.largest:
            # What it does among others may cost a little of what it tells, as in trimming.
            wanted = told * (turned + CLEARLY)
            tried = [
                (self.trim.turned(one.data), value, one)
                for one in islice(self._larger(piece), TRIED)
                if (value := self.trim.telling(one.typed)[0]) >= LEFT * told
            ]
            best = max(tried, key=lambda one: one[0] * one[1], default=(0.0, 0.0, piece))
            if best[0] * best[1] < wanted:
                break
            turned, told, piece = best
        return piece

    def _larger(self, piece: Candidate) -> Iterator[Candidate]:
        """The piece with one neighbour more, as most graphs of the class have it first."""
        real, target = self.trim.real, self.trim.target
        where: list[tuple[int, list[int]]] = []
        for number, nodes in islice(real.laid(piece.typed, target).items(), LOOKED_AT):
            here = as_bits(nodes)
            front = real.typed[number].around(here) & ~here
            where += [(number, [*nodes, one]) for one in bits(front)]
        typed = [self._typed(piece.typed, real.typed[i].part(nodes)) for i, nodes in where]
        for group in sorted(alike(typed), key=lambda one: -len({where[i][0] for i in one})):
            number, larger = where[group[0]]
            data = cut(real.graphs[number], larger)
            score = float(target.given(real.classifier.score_data([data]))[0])
            yield Candidate(data, typed[group[0]], score, score >= self.trim.bar)

    @staticmethod
    def _typed(old: Typed, new: Typed) -> Typed:
        """A larger piece with the open kinds and the ranges of the smaller one."""
        last = ANY if loose(old) else new.kinds[-1]
        return replace(new, kinds=(*old.kinds, last), ranges=old.ranges)
