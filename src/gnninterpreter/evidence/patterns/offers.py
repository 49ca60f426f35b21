"""Which nodes of many graphs have what a pattern's nodes need: what rules most graphs out.

The graphs lie side by side in one row of bits, each from a whole word of 64 on, so that a need of a
node is looked up in all of them at once, and what was looked up is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from itertools import chain

import numpy as np

from gnninterpreter.evidence.patterns.typed import ANY, NESTED, SHARING, Kind, Need, Typed

# Needs that are kept; each takes a bit for each node, and whole words for each graph.
KEPT = 4_096


class Offers:
    """What the nodes of graphs have.

    Args:
        graphs: The graphs, all directed or all undirected.
    """

    def __init__(self, graphs: Sequence[Typed]) -> None:
        """Lay the graphs side by side."""
        self._graphs = graphs
        sizes = np.array([len(graph) for graph in graphs], dtype=np.int64)
        widths = np.maximum((sizes + 63) // 64, 1)
        self.end = np.cumsum(widths)
        self.start = self.end - widths
        self._bits = 64 * int(widths.sum())
        shift = np.repeat(64 * self.start - np.cumsum(sizes) + sizes, sizes)
        kinds = np.fromiter(chain.from_iterable(graph.kinds for graph in graphs), np.int64)
        # What belongs to no node has a kind that nothing asks for.
        self._kinds = np.full(self._bits, ANY - 1)
        self._kinds[np.arange(len(kinds)) + shift] = kinds
        counts = [len(graph.edges) for graph in graphs]
        flat = chain.from_iterable(chain.from_iterable(graph.edges for graph in graphs))
        ends = np.fromiter(flat, np.int64).reshape(-1, 2)
        ends += np.repeat(64 * self.start, counts)[:, None]
        codes = 2 * np.fromiter(chain.from_iterable(g.edges.values() for g in graphs), np.int64)
        back = codes + any(graph.directed for graph in graphs)
        self._from, self._to = ends.T.reshape(-1), ends.T[::-1].reshape(-1)
        self._code = np.concatenate([codes, back])
        self._near = self._kinds[self._to]
        self._known: dict[Need, np.ndarray] = {}
        # How many neighbours nodes have, by link and kind; links that are left, by kind and need.
        self._counts: dict[tuple[int, Kind], np.ndarray] = {}
        self._left: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}

    def having(self, needs: Sequence[Need]) -> np.ndarray:
        """The nodes that meet all of some needs, as bits in words."""
        return reduce(np.bitwise_and, (self._having(need) for need in needs))

    def _having(self, need: Need) -> np.ndarray:
        if need not in self._known:
            kind, code, near, least = need
            found = _fits(self._kinds, kind)
            if near == NESTED:
                found &= self._nested(code, least)
            elif least:
                if (code, near) not in self._counts:
                    if near == SHARING:
                        links = self._shared >= code
                    else:
                        links = self._code == code
                        links = links if near == ANY else links & _fits(self._near, near)
                    counts = np.bincount(self._from[links], minlength=self._bits)
                    self._counts[code, near] = counts.astype(np.int32)
                found &= self._counts[code, near] >= least
            if len(self._known) >= KEPT:
                self._known.clear()
                self._counts.clear()
            self._known[need] = np.packbits(found, bitorder="little").view("<u8")
        return self._known[need]

    @cached_property
    def _shared(self) -> np.ndarray:
        """How many neighbours the two ends of each link share."""
        flat = chain.from_iterable(graph.shared for graph in self._graphs)
        return np.tile(np.fromiter(flat, np.int64), 2)

    def _nested(self, code: int, least: int) -> np.ndarray:
        """The nodes that have so many neighbours by a kind of edge among nodes that have as many.

        Those with fewer are dropped again and again: with two, what is left are rings and what lies
        between them.
        """
        kind = code // 2
        if (kind, least - 1) in self._left:  # what has as many has one less, too
            source, target = self._left[kind, least - 1]
        else:
            links = self._code // 2 == kind
            source, target = self._from[links], self._to[links]
        while True:
            enough = np.bincount(source, minlength=self._bits) >= least
            keep = enough[source] & enough[target]
            if keep.all():
                self._left[kind, least] = source, target
                return enough
            source, target = source[keep], target[keep]


def _fits(kinds: np.ndarray, kind: Kind) -> np.ndarray:
    """Which nodes are of a kind, or have the digits of it that count."""
    if isinstance(kind, int):
        return np.asarray(kinds >= 0 if kind == ANY else kinds == kind)
    digits = (kinds // weight % size == digit for weight, size, digit in kind)
    return reduce(np.bitwise_and, digits, kinds >= 0)
