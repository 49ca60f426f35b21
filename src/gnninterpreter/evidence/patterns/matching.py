"""Whether a pattern occurs in real graphs, and where: what makes a core more than an invention.

A pattern occurs where its nodes can be laid on different nodes of a graph such that kinds agree (an
open one agrees with all), numbers lie in the ranges it has, and every edge of the pattern lies on
an edge of its kind; the graph may have more edges there. Most graphs are ruled out by an index of
what their nodes have for neighbours; the others are searched, each with a limit, so that one hard
graph cannot take all the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.typed import Need, Range, Typed, bits

LIMIT = 2_000


class Undecided(Exception):  # noqa: N818 - an answer rather than an error
    """The limit was reached before the search was over."""


@dataclass(frozen=True)
class Matches:
    """Where a pattern occurs.

    Args:
        where: Numbers of the graphs that hold it, in ascending order.
        undecided: Numbers of the graphs where the limit was reached first.
        searched: How many graphs were asked.
    """

    where: tuple[int, ...]
    undecided: tuple[int, ...]
    searched: int

    @property
    def note(self) -> str | None:
        """A sentence where something was left undecided."""
        if not self.undecided:
            return None
        return f"not decided for {len(self.undecided):,} of {self.searched:,} graphs"


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
        self._meets: dict[bool, dict[Need, int]] = {}

    def __len__(self) -> int:
        return len(self.graphs)

    def candidates(self, pattern: Typed, among: int | None = None) -> int:
        """The graphs (as bits) that no need of any node of the pattern rules out."""
        left = (1 << len(self.graphs)) - 1 if among is None else among
        meets = self._meeting(bool(pattern.open))
        for node in range(len(pattern)):
            for need in pattern.needs(node):
                left &= meets.get(need, 0)
        return left

    def _meeting(self, open_: bool) -> dict[Need, int]:
        """For every need the graphs (as bits) that can meet it; made when first asked for."""
        if open_ not in self._meets:
            meets = self._meets[open_] = {}
            for number, graph in enumerate(self.graphs):
                for need in graph.open_offers if open_ else graph.offers:
                    meets[need] = meets.get(need, 0) | 1 << number
        return self._meets[open_]

    def match(self, pattern: Typed, among: int | None = None) -> Matches:
        """Find the graphs that hold a pattern.

        Args:
            pattern: What to look for.
            among: The graphs to ask, as bits; all of them if omitted.
        """
        plan = _Plan(pattern)
        where, undecided = [], []
        for number in bits(self.candidates(pattern, among)):
            limit = self.limit
            if self.budget is not None:
                limit = max(0, min(limit, self.budget - plan.steps))
            answer = plan.occurs(self.graphs[number], limit)
            if answer is None:
                undecided.append(number)
            elif answer:
                where.append(number)
        asked = len(self.graphs) if among is None else among.bit_count()
        return Matches(tuple(where), tuple(undecided), asked)


def find(pattern: Typed, graph: Typed, limit: int = LIMIT) -> tuple[int, ...] | None:
    """Nodes of the graph on which the nodes of the pattern lie, or None where it does not occur.

    Raises:
        Undecided: If the limit was reached first.
    """
    return _Plan(pattern).first(graph, limit)


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
    return _Plan(pattern).every(graph, most, limit)


class _Plan:
    """The order in which a pattern's nodes are laid, and what each must be next to."""

    def __init__(self, pattern: Typed) -> None:
        self.pattern, self.open = pattern, bool(pattern.open)
        self.steps = 0
        count = len(pattern)
        # Nodes with many needs first: they have the fewest places.
        weight = [len(pattern.needs(i)) * 8 + pattern.near[i].bit_count() for i in range(count)]
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
        self.needs = [pattern.needs(node) for node in order]
        # Of each node: earlier ones by the code of the link as seen from them.
        self.ties: list[list[tuple[int, int]]] = [
            [
                (place[other], code)
                for other in bits(pattern.near[node])
                if place[other] < place[node]
                for code, mask in pattern.links[other].items()
                if mask >> node & 1
            ]
            for node in order
        ]
        self.ranged: dict[tuple[int, ...], list[Range]] = {}
        for one in pattern.ranges:
            self.ranged.setdefault(one.nodes, []).append(one)
        # Of each node: earlier ones that an edge with a range joins it to, whether the edge leaves
        # from there, and the range.
        self.spans = [
            [
                (place[other], ends[0] == other, one)
                for ends, ranges in self.ranged.items()
                if len(ends) == 2 and node in ends
                for other in ends
                if place[other] < place[node]
                for one in ranges
            ]
            for node in order
        ]
        self.twins = _twins(pattern, order)
        # How many neighbours of each are still to be laid after it.
        self.later = [
            sum(place[other] > place[node] for other in bits(pattern.near[node])) for node in order
        ]

    def first(self, graph: Typed, limit: int) -> tuple[int, ...] | None:
        found = self._search(graph, limit, 1, raises=True)
        return found[0] if found else None

    def occurs(self, graph: Typed, limit: int) -> bool | None:
        """Whether it does; None where the limit was reached first."""
        try:
            return self.first(graph, limit) is not None
        except Undecided:
            return None

    def every(self, graph: Typed, most: int, limit: int) -> list[tuple[int, ...]]:
        return self._search(graph, limit, most, raises=False)

    def _domains(self, graph: Typed) -> list[int]:
        """The places (as bits) that each node may take by its needs; empty if one has none."""
        domains, offers = [], graph.open_offers if self.open else graph.offers
        for node, needs in zip(self.order, self.needs, strict=True):
            mask = -1
            for need in needs:
                mask &= offers.get(need, 0)
            for one in self.ranged.get((node,), ()):
                mask &= sum(1 << i for i in bits(mask) if one.holds(graph.values[i]))
            if not mask:
                return []
            domains.append(mask)
        return domains

    def _search(self, graph: Typed, limit: int, most: int, raises: bool) -> list[tuple[int, ...]]:
        count = len(self.order)
        if count == 0:
            return [()]
        domains = self._domains(graph)
        if not domains or count > len(graph):
            return []
        links, near, ties, later = graph.links, graph.near, self.ties, self.later
        last = count - 1
        laid = [0] * count
        pools = [domains[0]] + [0] * last
        found: list[tuple[int, ...]] = []
        seen: set[int] = set()
        used = depth = steps = 0
        while True:
            pool = pools[depth]
            if not pool:
                depth -= 1
                if depth < 0:
                    return found
                used ^= 1 << laid[depth]
                continue
            steps += 1
            self.steps += 1
            if steps > limit:
                if raises:
                    raise Undecided
                return found
            low = pool & -pool
            pools[depth] = pool ^ low
            laid[depth] = low.bit_length() - 1
            if (near[laid[depth]] & ~used).bit_count() < later[depth]:
                continue
            if depth == last:
                mask = used | low
                if mask not in seen:
                    seen.add(mask)
                    found.append(self._in_order(laid))
                    if len(found) >= most:
                        return found
                continue
            used |= low
            depth += 1
            free = domains[depth] & ~used
            for earlier, code in ties[depth]:
                free &= links[laid[earlier]].get(code, 0)
            for earlier, forth, one in self.spans[depth]:
                other = laid[earlier]
                free &= sum(1 << i for i in bits(free) if _spans(graph, other, i, forth, one))
            twin = self.twins[depth]
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
