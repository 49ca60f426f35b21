"""Whether a pattern occurs in real graphs, and where: what makes a core more than an invention.

A pattern occurs where its nodes can be laid on different nodes of a graph such that kinds agree (an
open one agrees with all), numbers lie in the ranges it has, and every edge of the pattern lies on
an edge of its kind; the graph may have more edges there. Most graphs are ruled out by what their
nodes have for neighbours (`offers`); the others are searched, each with a limit, so that one hard
graph cannot take all the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.offers import Offers
from gnninterpreter.evidence.patterns.typed import Range, Typed, bits

LIMIT = 2_000
# Steps after which a graph has to wait until the others had as many; each next turn has more.
TURN, MORE = 64, 8
# Places that an index keeps, of all patterns together.
KEPT = 100_000
# What a search without a further place ends with.
OVER = (-1,)


class Undecided(Exception):  # noqa: N818 - an answer rather than an error
    """The limit was reached before the search was over."""


@dataclass(frozen=True)
class Matches:
    """Where a pattern occurs.

    Args:
        where: Numbers of the graphs that hold it, in ascending order.
        undecided: Numbers of the graphs where the limit was reached first.
        places: Of each graph that holds it, the nodes on which the pattern's nodes lie.
    """

    where: tuple[int, ...]
    undecided: tuple[int, ...]
    places: tuple[tuple[int, ...], ...] = ()

    def among(self, graphs: int | None) -> Matches:
        """The same of some of the graphs (as bits); of all for None."""
        if graphs is None:
            return self
        there = [i for i, number in enumerate(self.where) if graphs >> number & 1]
        return Matches(
            tuple(self.where[i] for i in there),
            tuple(number for number in self.undecided if graphs >> number & 1),
            tuple(self.places[i] for i in there),
        )


class PatternIndex:
    """Real graphs, made ready for many patterns to be looked up in them.

    Args:
        graphs: The graphs.
        limit: Most steps of the search for one pattern, as a mean over the graphs asked; those in
            which a graph is decided in its first turn are not counted.

    Raises:
        DataError: If the limit is not positive or graphs differ in being directed.
    """

    def __init__(self, graphs: Sequence[Typed], limit: int = LIMIT) -> None:
        """Check the limit."""
        if limit < 1:
            raise DataError(f"limit must be at least 1 step (got {limit})")
        if len({graph.directed for graph in graphs}) > 1:
            raise DataError("graphs must be all directed or all undirected (got both)")
        self.graphs = list(graphs)
        self.limit = limit
        self._matched: dict[object, Matches] = {}
        self._room = KEPT

    def __len__(self) -> int:
        return len(self.graphs)

    @cached_property
    def offers(self) -> Offers:
        """What nodes of the graphs have; made when first asked for."""
        return Offers(self.graphs)

    def match(
        self,
        pattern: Typed,
        among: int | None = None,
        limit: int = 0,
        inside: Sequence[Typed] = (),
    ) -> Matches:
        """Find the graphs that hold a pattern; what was asked of all graphs is not asked again.

        Args:
            pattern: What to look for.
            among: The graphs to ask, as bits; all of them if omitted.
            limit: More steps than those of the index; what those left open is then asked again.
            inside: Patterns that every graph holds which holds this one. Where the graphs of one of
                them are known, no others are searched; the first such one is taken.
        """
        same = _looks(pattern)
        known = self._matched.get(same)
        if known is not None and (limit <= self.limit or not known.undecided):
            return known.among(among)
        asked = len(self.graphs) if among is None else among.bit_count()
        plan = Plan(pattern, self)
        places = {} if known is None else dict(zip(known.where, known.places, strict=True))
        asking = plan.candidates if known is None else known.undecided
        part = next(filter(None, (self._matched.get(_looks(one)) for one in inside)), None)
        if part is not None:
            asking = sorted({*part.where, *part.undecided}.intersection(asking))
        numbers = [i for i in asking if among is None or among >> i & 1]
        left = {number: plan.places(number) for number in numbers}
        turns, budget = 1, max(limit, self.limit) * asked
        while left and budget > 0:
            for number in list(left):
                for _ in range(turns):
                    place = next(left[number], OVER)
                    if place is not None:
                        del left[number]
                        places |= {} if place is OVER else {number: place}
                        break
                    budget -= TURN
                if budget <= 0 and turns > 1:
                    break
            turns *= MORE
        where = tuple(sorted(places))
        found = Matches(where, tuple(left), tuple(places[i] for i in where))
        if among is None:
            self._room -= len(where)
            if self._room < 0:
                self._matched, self._room = {}, KEPT - len(where)
            self._matched[same] = found
        return found


def _looks(pattern: Typed) -> object:
    """The same for patterns that are the same, node by node."""
    return pattern.kinds, tuple(pattern.edges.items()), pattern.ranges


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
    return Plan(pattern, PatternIndex([graph])).some(0, limit, most)


class Plan:
    """How a pattern is looked for in the graphs of an index.

    Args:
        pattern: What to look for.
        index: Where to look.
    """

    def __init__(self, pattern: Typed, index: PatternIndex) -> None:
        """Decide the order in which nodes are laid, and what each must be next to."""
        self.pattern, self.graphs, self._index = pattern, index.graphs, index
        count = len(pattern)
        self._needs = needs = [pattern.needs(node) for node in range(count)]
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
        self.place = [place[node] for node in range(count)]
        self.ranged: dict[tuple[int, ...], list[Range]] = {}
        for one in pattern.ranges:
            self.ranged.setdefault(one.nodes, []).append(one)
        # Of each node: earlier ones by the code of the link as seen from them; earlier ones that an
        # edge with a range joins it to, whether the edge leaves from there, and the range; how many
        # neighbours are laid after it.
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
                sum(place[other] > place[node] for other in bits(pattern.near[node])),
            )
            for node in order
        ]

    @cached_property
    def _meeting(self) -> np.ndarray:
        """The nodes of all graphs that meet the needs of each node, in the order of laying."""
        every = (self._needs[node] + self.pattern.knots[node] for node in self.order)
        return np.stack([self._index.offers.having(each) for each in every])

    @cached_property
    def _words(self) -> list[list[int]]:
        """The same for Python, word by word."""
        found: list[list[int]] = self._meeting.T.tolist()
        return found

    @cached_property
    def candidates(self) -> list[int]:
        """Numbers of the graphs in which every node has a place by its needs."""
        if not self.order or not self.graphs:
            return list(range(len(self.graphs)))
        there = np.bitwise_or.reduceat(self._meeting, self._index.offers.start, axis=1)
        found: list[int] = np.flatnonzero(there.all(axis=0)).tolist()
        return found

    def _domains(self, number: int) -> list[int]:
        """The places (as bits) that each node may take by its needs and ranges."""
        start, size = int(self._index.offers.start[number]), len(self.graphs[number])
        domains = self._words[start]
        for more in range(64, size, 64):
            words = self._words[start + more // 64]
            domains = [low | high << more for low, high in zip(domains, words, strict=True)]
        if self.ranged:
            domains = list(domains)
            values = self.graphs[number].values
            for place, node in enumerate(self.order):
                for one in self.ranged.get((node,), ()):
                    fits = (1 << i for i in bits(domains[place]) if one.holds(values[i]))
                    domains[place] = sum(fits)
        return domains

    def some(self, number: int, limit: int, most: int) -> list[tuple[int, ...]]:
        """Places in one graph: at most so many, within so many steps."""
        found: list[tuple[int, ...]] = []
        for place in self.places(number, single=False):
            limit -= TURN if place is None else 0
            found += [] if place is None else [place]
            if limit <= 0 or len(found) == most:
                break
        return found

    def places(
        self, number: int, single: bool = True, domains: list[int] | None = None
    ) -> Iterator[tuple[int, ...] | None]:
        """Look for places of the pattern in one graph, no two on the same nodes.

        Args:
            number: Which graph.
            single: Whether only the first place is asked for; then, in a graph that takes more than
                a turn, nothing is tried that is the same by symmetry as what was tried before.
            domains: Where each node may lie; by its needs and ranges if omitted.

        Yields:
            A place, or None after each turn of steps without one.
        """
        graph, count = self.graphs[number], len(self.order)
        if count == 0:
            yield ()
            return
        domains = domains or self._domains(number)
        if not all(domains) or count > len(graph):
            return
        linked, near, rows = graph.linked, graph.near, self.rows
        twins: Sequence[Sequence[int]] = [()] * count
        behind, before = 0, [0]
        if not single:
            twins = self.symmetries
        last = count - 1
        laid = [0] * count
        pools = [domains[0]] + [0] * last
        seen: set[int] = set()
        used = depth = steps = 0
        later = rows[0][2]
        while True:
            pool = pools[depth]
            if not pool:
                depth -= 1
                if depth < 0:
                    return
                used ^= 1 << laid[depth]
                later = rows[depth][2]
                continue
            steps += 1
            if steps > TURN:
                steps = 1
                yield None
                if single and not self.ranged:
                    twins, before, behind = self.symmetries, graph.before, graph.behind
            low = pool & -pool
            pools[depth] = pool ^ low
            laid[depth] = node = low.bit_length() - 1
            if later and (near[node] & ~used).bit_count() < later:
                continue
            # Of nodes that may change places in the graph the first that is free will do.
            if low & behind and not before[node] & used:
                continue
            if depth == last:
                mask = used | low
                if mask not in seen:
                    seen.add(mask)
                    yield tuple(laid[place] for place in self.place)
                continue
            used |= low
            depth += 1
            free = domains[depth] & ~used
            ties, spans, later = rows[depth]
            for earlier, code in ties:
                free &= linked[code][laid[earlier]]
            for earlier, forth, one in spans:
                other = laid[earlier]
                free &= sum(1 << i for i in bits(free) if _spans(graph, other, i, forth, one))
            for earlier in twins[depth]:
                free &= -2 << laid[earlier]
            pools[depth] = free

    @cached_property
    def symmetries(self) -> list[list[int]]:
        """For each node, in the order of laying, those before it that must have lower numbers.

        They could change places with it while all before them stay. Without this a star with n
        leaves would be tried n! times; of places that are the same only the first is found.
        """
        found: list[list[int]] = [[] for _ in self.order]
        alike: dict[int, int] = {}
        for node, colour in enumerate(self.pattern.colours):
            alike[colour] = alike.get(colour, 0) | 1 << node
        if len(alike) == len(found) or self.ranged:
            return found
        # Open kinds, and those of which some is open, are kinds of their own here.
        names = {kind: number for number, kind in enumerate(dict.fromkeys(self.pattern.kinds))}
        whole = replace(self.pattern, kinds=tuple(names[kind] for kind in self.pattern.kinds))
        own = Plan(whole, PatternIndex([whole]))
        fixed = [alike[self.pattern.colours[node]] for node in self.order]
        for place, node in enumerate(self.order):
            for other in bits(fixed[place] & ~(1 << node)):
                ways = [*fixed[:place], 1 << other, *fixed[place + 1 :]]
                if next(own.places(0, domains=ways), None):
                    found[self.place[other]].append(place)
            fixed[place] = 1 << node
        return found


def _spans(graph: Typed, earlier: int, node: int, forth: bool, range_: Range) -> bool:
    """Whether the number of the edge between two nodes lies in a range."""
    i, j = (earlier, node) if forth else (node, earlier)
    ends = (i, j) if graph.directed or i < j else (j, i)
    return ends in graph.edge_values and range_.holds(graph.edge_values[ends])
