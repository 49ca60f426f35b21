"""Whether a pattern occurs in real graphs, and where: what makes a core more than an invention.

A pattern occurs where its nodes can be laid on different nodes of a graph such that kinds agree (an
open one agrees with all), numbers lie in the ranges it has, and every edge of the pattern lies on
an edge of its kind; the graph may have more edges there. Most graphs are ruled out by what their
nodes have for neighbours (`offers`); the others are searched, each with a limit, so that one hard
graph cannot take all the time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.offers import Offers
from gnninterpreter.evidence.patterns.typed import Range, Typed, bits

LIMIT = 2_000
# Places that an index keeps, of all patterns together.
KEPT = 100_000


class Undecided(Exception):  # noqa: N818 - an answer rather than an error
    """The limit was reached before the search was over."""


@dataclass(frozen=True)
class Matches:
    """Where a pattern occurs.

    Args:
        where: Numbers of the graphs that hold it, in ascending order.
        undecided: Numbers of the graphs where the limit was reached first.
        searched: How many graphs were asked.
        places: Of each graph that holds it, the nodes on which the pattern's nodes lie.
    """

    where: tuple[int, ...]
    undecided: tuple[int, ...]
    searched: int
    places: tuple[tuple[int, ...], ...] = ()

    @property
    def note(self) -> str | None:
        """A sentence where something was left undecided."""
        if not self.undecided:
            return None
        return f"not decided for {len(self.undecided):,} of {self.searched:,} graphs"

    def among(self, graphs: int | None) -> Matches:
        """The same of some of the graphs (as bits); of all for None."""
        if graphs is None:
            return self
        there = [i for i, number in enumerate(self.where) if graphs >> number & 1]
        return Matches(
            tuple(self.where[i] for i in there),
            tuple(number for number in self.undecided if graphs >> number & 1),
            graphs.bit_count(),
            tuple(self.places[i] for i in there),
        )


class PatternIndex:
    """Real graphs, made ready for many patterns to be looked up in them.

    Args:
        graphs: The graphs.
        limit: Most steps of the search in one graph for one pattern.
        budget: Most steps for one pattern in all graphs; no more than ``limit`` in each if omitted.

    Raises:
        DataError: If the limit is not positive or graphs differ in being directed.
    """

    def __init__(
        self,
        graphs: Sequence[Typed],
        limit: int = LIMIT,
        budget: int | None = None,
    ) -> None:
        """Check the limits."""
        for name, steps in (("limit", limit), ("budget", 1 if budget is None else budget)):
            if steps < 1:
                raise DataError(f"{name} must be at least 1 step (got {steps})")
        if len({graph.directed for graph in graphs}) > 1:
            raise DataError("graphs must be all directed or all undirected (got both)")
        self.graphs = list(graphs)
        self.limit = limit
        self.budget = budget
        self._matched: dict[object, Matches] = {}
        self._room = KEPT

    def __len__(self) -> int:
        return len(self.graphs)

    @cached_property
    def offers(self) -> Offers:
        """What nodes of the graphs have; made when first asked for."""
        return Offers(self.graphs)

    def match(self, pattern: Typed, among: int | None = None) -> Matches:
        """Find the graphs that hold a pattern; what was asked of all graphs is not asked again.

        Args:
            pattern: What to look for.
            among: The graphs to ask, as bits; all of them if omitted.
        """
        same = (pattern.kinds, tuple(pattern.edges.items()), pattern.ranges)
        known = self._matched.get(same)
        # What the steps for all graphs left open they may decide for some.
        if known is not None and (among is None or not known.undecided):
            return known.among(among)
        plan = Plan(pattern, self)
        where, places, undecided = [], [], []
        left = math.inf if self.budget is None else self.budget
        for number in plan.candidates:
            if among is not None and not among >> number & 1:
                continue
            laid, steps, over = plan.search(number, max(0, min(self.limit, left)), 1)
            left -= steps
            if laid:
                where.append(number)
                places.append(laid[0])
            elif not over:
                undecided.append(number)
        asked = len(self.graphs) if among is None else among.bit_count()
        found = Matches(tuple(where), tuple(undecided), asked, tuple(places))
        if among is None:
            self._room -= len(where)
            if self._room < 0:
                self._matched, self._room = {}, KEPT - len(where)
            self._matched[same] = found
        return found


def find(pattern: Typed, graph: Typed, limit: int = LIMIT) -> tuple[int, ...] | None:
    """Nodes of the graph on which the nodes of the pattern lie, or None where it does not occur.

    Raises:
        Undecided: If the limit was reached first.
    """
    found = PatternIndex([graph], limit).match(pattern)
    if found.undecided:
        raise Undecided
    return found.places[0] if found.places else None


def occurrences(
    pattern: Typed, graph: Typed, most: int = 16, limit: int = LIMIT
) -> list[tuple[int, ...]]:
    """Places of a pattern in a graph, no two on the same set of nodes.

    Args:
        pattern: What to look for.
        graph: Where to look.
        most: No more places than this.
        limit: Most steps; places that later steps would find are left out.
    """
    return Plan(pattern, PatternIndex([graph])).search(0, limit, most)[0]


class Plan:
    """How a pattern is looked for in the graphs of an index.

    Args:
        pattern: What to look for.
        index: Where to look.

    Attributes:
        candidates: Numbers of the graphs in which every node has a place by its needs.
    """

    def __init__(self, pattern: Typed, index: PatternIndex) -> None:
        """Decide the order in which nodes are laid, and what each must be next to."""
        self.graphs = index.graphs
        count = len(pattern)
        needs = [pattern.needs(node) for node in range(count)]
        # Nodes with many needs first: they have the fewest places.
        weight = [len(needs[i]) * 8 + pattern.near[i].bit_count() for i in range(count)]
        order: list[int] = []
        placed = front = 0
        while len(order) < count:
            pool = list(bits(front & ~placed)) or [i for i in range(count) if not placed >> i & 1]
            best = max(pool, key=lambda i: ((pattern.near[i] & placed).bit_count(), weight[i], -i))
            order.append(best)
            placed |= 1 << best
            front |= pattern.near[best]
        self.order = order
        place = {node: number for number, node in enumerate(order)}
        self.ranged: dict[tuple[int, ...], list[Range]] = {}
        for one in pattern.ranges:
            self.ranged.setdefault(one.nodes, []).append(one)
        twins = _twins(pattern, order)
        # Of each node: earlier ones by the code of the link as seen from them; earlier ones that an
        # edge with a range joins it to, whether the edge leaves from there, and the range; the
        # last one before it that could change places; how many neighbours are laid after it.
        self.rows = [
            (
                [
                    (place[other], code)
                    for other in bits(pattern.near[node])
                    if place[other] < place[node]
                    for code, mask in pattern.links[other].items()
                    if mask >> node & 1
                ],
                [
                    (place[other], ends[0] == other, one)
                    for ends, ranges in self.ranged.items()
                    if len(ends) == 2 and node in ends
                    for other in ends
                    if place[other] < place[node]
                    for one in ranges
                ],
                twins[place[node]],
                sum(place[other] > place[node] for other in bits(pattern.near[node])),
            )
            for node in order
        ]
        self.candidates: list[int] = list(range(len(self.graphs)))
        self._places: list[tuple[int, int]] = []
        if count and self.graphs:
            offers = index.offers
            every = [needs[node] + pattern.knots[node] for node in order]
            domains = np.stack([offers.having(each) for each in every])
            there = np.bitwise_or.reduceat(domains, offers.start, axis=1).all(axis=0)
            self.candidates = np.flatnonzero(there).tolist()
            self._bytes, self._width = domains.tobytes(), domains.shape[1]
            self._places = list(zip(offers.start.tolist(), offers.end.tolist(), strict=True))

    def _domains(self, number: int) -> list[int]:
        """The places (as bits) that each node may take by its needs and ranges."""
        start, end = self._places[number]
        raw, width, read = self._bytes, self._width, int.from_bytes
        domains = [
            read(raw[row + start : row + end], "little")
            for row in range(0, width * len(self.order), width)
        ]
        if self.ranged:
            values = self.graphs[number].values
            for place, node in enumerate(self.order):
                for one in self.ranged.get((node,), ()):
                    fits = (1 << i for i in bits(domains[place]) if one.holds(values[i]))
                    domains[place] = sum(fits)
        return domains

    def search(
        self, number: int, limit: float, most: int
    ) -> tuple[list[tuple[int, ...]], int, bool]:
        """Look for places of the pattern in one graph.

        Args:
            number: Which graph.
            limit: Most steps.
            most: Most places, no two on the same nodes.

        Returns:
            The places, the steps taken, and whether there are no more within the limit.
        """
        graph, count = self.graphs[number], len(self.order)
        if count == 0:
            return [()], 0, True
        domains = self._domains(number)
        if not all(domains) or count > len(graph):
            return [], 0, True
        links, near, rows = graph.links, graph.near, self.rows
        last = count - 1
        laid = [0] * count
        pools = [domains[0]] + [0] * last
        found: list[tuple[int, ...]] = []
        seen: set[int] = set()
        used = depth = steps = 0
        later = rows[0][3]
        while True:
            pool = pools[depth]
            if not pool:
                depth -= 1
                if depth < 0:
                    return found, steps, True
                used ^= 1 << laid[depth]
                later = rows[depth][3]
                continue
            steps += 1
            if steps > limit:
                return found, steps, False
            low = pool & -pool
            pools[depth] = pool ^ low
            laid[depth] = node = low.bit_length() - 1
            if later and (near[node] & ~used).bit_count() < later:
                continue
            if depth == last:
                mask = used | low
                if mask not in seen:
                    seen.add(mask)
                    found.append(self._in_order(laid))
                    if len(found) >= most:
                        return found, steps, False
                continue
            used |= low
            depth += 1
            free = domains[depth] & ~used
            ties, spans, twin, later = rows[depth]
            for earlier, code in ties:
                free &= links[laid[earlier]].get(code, 0)
            for earlier, forth, one in spans:
                other = laid[earlier]
                free &= sum(1 << i for i in bits(free) if _spans(graph, other, i, forth, one))
            if twin >= 0:
                free &= -2 << laid[twin]
            pools[depth] = free

    def _in_order(self, laid: Iterable[int]) -> tuple[int, ...]:
        """Places by the pattern's own numbers rather than by the order of laying."""
        found = [0] * len(self.order)
        for node, place in zip(self.order, laid, strict=True):
            found[node] = place
        return tuple(found)


def _twins(pattern: Typed, order: Sequence[int]) -> list[int]:
    """For each node, in the order of laying, the last one before it that could change places.

    Twins (same kind, same neighbours) need be tried in ascending order only; without that, a star
    with n leaves would be tried n! times.
    """
    latest: dict[object, int] = {}
    found = []
    for number, node in enumerate(order):
        # A node with a range of its own, or at an edge with one, changes places with no other.
        ranged = node if any(node in one.nodes for one in pattern.ranges) else -1
        links = tuple(sorted(pattern.links[node].items()))
        found.append(latest.get(key := (pattern.kinds[node], links, ranged), -1))
        latest[key] = number
    return found


def _spans(graph: Typed, earlier: int, node: int, forth: bool, range_: Range) -> bool:
    """Whether the number of the edge between two nodes lies in a range."""
    i, j = (earlier, node) if forth else (node, earlier)
    ends = (i, j) if graph.directed or i < j else (j, i)
    return ends in graph.edge_values and range_.holds(graph.edge_values[ends])
