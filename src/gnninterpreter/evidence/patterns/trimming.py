"""What a core can do without: nodes that only make a bare piece look like a whole graph.

Some models are certain of a motif only in company: a piece that makes them certain by itself then
carries nodes that any graph has. Those are dropped as long as the rest tells as much about the
class, and turns other graphs as often when it is joined to them; less often where it tells more.
Graphs that turn with any piece as large do not count. What is left and is no longer enough by
itself must turn most of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.evidence.patterns.causes import random_pieces, sufficiency
from gnninterpreter.evidence.patterns.pieces import Candidate
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.shrinking import removable
from gnninterpreter.evidence.patterns.typed import Typed, bits
from gnninterpreter.evidence.thresholds import CLEARLY
from gnninterpreter.objective.target import Target
from gnninterpreter.spec.data import node_count
from gnninterpreter.typicality.pieces import cut

# Share of what a piece tells that may be lost, and how many smaller pieces are joined to graphs.
SPARED, JOINED = 0.05, 4
# Share of other graphs that a part must turn which is not enough by itself.
TURNS = 0.5


@dataclass(frozen=True)
class Trimming:
    """Finds the smallest part of a piece that does as much.

    Args:
        real: The real graphs.
        telling: How much patterns tell.
        hosts: Graphs of other classes, to join parts to.
        target: What is asked for.
        bar: What counts as certain.
        least: Fewest nodes that are left.
        seed: Of where they are joined.
    """

    real: RealGraphs
    telling: Callable[[Typed], tuple[float, np.ndarray]]
    hosts: Sequence[Data]
    target: Target
    bar: float
    least: int = 1
    seed: int = 0
    _random: dict[int, float] = field(default_factory=dict, init=False)

    def __call__(self, piece: Candidate) -> Candidate:
        """Trim a piece."""
        turned = self.turned(piece.data)
        if turned < CLEARLY and piece.certain:
            # What turns no graphs gives nothing to compare parts by.
            return self._without_ranges(piece)
        most = first = self.telling(piece.typed)[0]
        way: list[tuple[float, int, Typed]] = []
        nodes = piece.typed.whole
        while most > 0 and nodes.bit_count() > self.least:
            tried = []
            for node in bits(removable(piece.typed, nodes)):
                left = nodes & ~(1 << node)
                part = piece.typed.part(list(bits(left)))
                tried.append((self.telling(part)[0], left, part))
            best = max(tried, key=lambda one: one[0], default=None)
            if best is None or best[0] < (1 - SPARED) * most:
                break
            most, nodes = max(most, best[0]), best[1]
            way.append(best)
        enough = [entry for entry in way if entry[0] >= (1 - SPARED) * most][::-1][:JOINED]
        if not enough:
            return self._without_ranges(piece)
        kept = [cut(piece.data, list(bits(left))) for _, left, _ in enough]
        wanted = first * (turned - CLEARLY)
        scores = self.target.given(self.real.classifier.score_data(kept))
        for (value, _, part), data, score in zip(enough, kept, scores.tolist(), strict=True):
            turns, certain = self.turned(data), score >= self.bar
            if value * turns >= wanted and (certain or turns >= TURNS or not piece.certain):
                return self._without_ranges(Candidate(data, part, score, certain))
        return self._without_ranges(piece)

    def turned(self, data: Data) -> float:
        """Share of hosts that turn with a piece, beyond those that turn with any as large."""
        size = node_count(data)
        if size not in self._random:
            graphs, typed, rng = self.real.graphs, self.real.typed, np.random.default_rng(self.seed)
            others = random_pieces(graphs, typed, size, len(self.hosts), rng)
            self._random[size] = self._share(others) if others else 0.0
        return self._share([data]) - self._random[size]

    def _share(self, pieces: Sequence[Data]) -> float:
        classifier = self.real.classifier
        effect = sufficiency(classifier, pieces, self.hosts, self.target, (), self.seed)
        return 0.0 if effect is None else effect.value

    def _without_ranges(self, piece: Candidate) -> Candidate:
        """Leave out the ranges of numbers without which it tells as much."""
        most = self.telling(piece.typed)[0] if piece.typed.ranges else 0.0
        typed = piece.typed
        for one in piece.typed.ranges:
            wider = replace(typed, ranges=tuple(other for other in typed.ranges if other != one))
            value = self.telling(wider)[0]
            if value >= (1 - SPARED) * most:
                most, typed = max(most, value), wider
        return replace(piece, typed=typed, inside=())
