"""Ranges for the numbers of a piece: how far they may change before the model turns away.

Kinds are matched as they are; numbers never come twice. So each number of a piece is varied over
what real graphs have. One that may be anything has no range; the others get the widest one around
their own value in which the model stays with the class, whatever the free numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.evidence.patterns.real import RealGraphs, some
from gnninterpreter.evidence.patterns.typed import Range, Typed, varying_columns
from gnninterpreter.graphs import table
from gnninterpreter.objective.target import Target

# Values tried for each number, draws of the free ones, graphs asked which columns matter, and most
# columns that are looked at.
STEPS, DRAWS, GRAPHS, COLUMNS = 11, 4, 48, 4
# A column that can be shuffled at so small a cost is not read.
UNREAD = 0.02


@dataclass(frozen=True)
class _Number:
    """One number of a piece: its attribute, its rows there, its column, and whose it is."""

    name: str
    rows: tuple[int, ...]
    column: int
    nodes: tuple[int, ...]
    place: int


class Bounds:
    """Finds ranges for the numbers of pieces.

    Args:
        real: The real graphs.
        target: What is asked for.
        own: Numbers of real graphs of the target, by which columns are judged.
        floor: Score that a piece has to keep.
        seed: Of every draw.

    Attributes:
        columns: The columns that matter, as attribute, column and place among those that vary.
    """

    def __init__(
        self, real: RealGraphs, target: Target, own: Sequence[int], floor: float, seed: int = 0
    ) -> None:
        """See which columns the model reads."""
        self.real, self.target, self.floor = real, target, floor
        self.rng = np.random.default_rng([seed, target.index, 2])
        spec = real.classifier.spec
        names = {"x": varying_columns(spec.nodes), "edge_attr": varying_columns(spec.edges)}
        drawn = [real.graphs[i] for i in some(range(len(real)), GRAPHS, self.rng)]
        self.pools: dict[tuple[str, int], Tensor] = {}
        self.columns: list[tuple[str, int, int]] = []
        falls = []
        for name, columns in names.items():
            for place, column in enumerate(columns):
                rows = torch.cat([table(graph[name])[:, column].cpu() for graph in drawn])
                if len(rows):
                    self.pools[name, column] = rows
                    self.columns.append((name, column, place))
        mine = [real.graphs[i] for i in some(own, GRAPHS, self.rng)]
        if self.columns and mine:
            base = self._score(mine)
            for name, column, _ in self.columns:
                changed = [self._shuffled(graph, name, column) for graph in mine]
                falls.append(float((base - self._score(changed)).mean()))
            order = np.argsort(falls)[::-1][:COLUMNS]
            self.columns = [self.columns[i] for i in order if falls[i] > UNREAD]

    def __call__(self, pieces: Sequence[tuple[Data, Typed]]) -> list[Typed]:
        """The pieces with their ranges, as kinds."""
        if not self.columns:
            return [typed for _, typed in pieces]
        numbers = [self._numbers(data, typed) for data, typed in pieces]
        graphs = [data for data, _ in pieces]
        free = self._free(graphs, numbers)
        ranges = self._ranges(graphs, numbers, free)
        return [
            replace(typed, ranges=tuple(found))
            for (_, typed), found in zip(pieces, ranges, strict=True)
        ]

    def _numbers(self, data: Data, typed: Typed) -> list[_Number]:
        found, ends = [], data.edge_index.t().tolist()
        for name, column, place in self.columns:
            if name == "x":
                found += [_Number(name, (i,), column, (i,), place) for i in range(len(typed))]
                continue
            for pair in typed.edges:
                both = (list(pair),) if typed.directed else (list(pair), list(pair[::-1]))
                rows = tuple(row for row, link in enumerate(ends) if link in both)
                found.append(_Number(name, rows, column, pair, place))
        return found

    def _free(
        self, graphs: Sequence[Data], numbers: Sequence[list[_Number]]
    ) -> list[list[_Number]]:
        """The numbers that may be anything, all at once; what matters least is tried first."""
        asked = [(g, n) for g, own in enumerate(numbers) for n in own]
        tried = [self._with(graphs[g], [(n, v)]) for g, n in asked for v in self._values(n)]
        worst = self._score(tried).view(-1, STEPS).min(dim=1).values.tolist()
        order: list[list[tuple[float, _Number]]] = [[] for _ in graphs]
        for (g, number), value in zip(asked, worst, strict=True):
            order[g].append((value, number))
        queues = [
            [n for value, n in sorted(own, key=lambda one: -one[0]) if value >= self.floor]
            for own in order
        ]
        free: list[list[_Number]] = [[] for _ in graphs]
        for turn in range(max(map(len, queues), default=0)):
            going = [g for g, queue in enumerate(queues) if turn < len(queue)]
            tried = [
                self._with(graphs[g], self._drawn([*free[g], queues[g][turn]]))
                for g in going
                for _ in range(DRAWS)
            ]
            kept = self._score(tried).view(-1, DRAWS).min(dim=1).values >= self.floor
            for g, fits in zip(going, kept.tolist(), strict=True):
                free[g] += [queues[g][turn]] * fits
        return free

    def _ranges(
        self, graphs: Sequence[Data], numbers: Sequence[list[_Number]], free: list[list[_Number]]
    ) -> list[list[Range]]:
        asked = [(g, n) for g, own in enumerate(numbers) for n in own if n not in free[g]]
        tried = [
            self._with(graphs[g], [*self._drawn(free[g]), (n, v)])
            for g, n in asked
            for v in self._values(n)
            for _ in range(DRAWS)
        ]
        found: list[list[Range]] = [[] for _ in graphs]
        if not asked:
            return found
        fits = (self._score(tried).view(-1, STEPS, DRAWS) >= self.floor).double().mean(dim=2) > 0.5
        for (g, number), good in zip(asked, fits.tolist(), strict=True):
            own = float(table(graphs[g][number.name])[number.rows[0], number.column])
            low, high = _around(own, self._values(number), good)
            if low is not None or high is not None:
                found[g].append(Range(number.nodes, number.place, low, high))
        return found

    def _values(self, number: _Number) -> list[float]:
        """Values that real graphs have, from the least to the most."""
        at = torch.linspace(0, 1, STEPS, dtype=torch.double)
        values: list[float] = self.pools[number.name, number.column].double().quantile(at).tolist()
        return values

    def _drawn(self, numbers: Sequence[_Number]) -> list[tuple[_Number, float]]:
        drawn = []
        for number in numbers:
            pool = self.pools[number.name, number.column]
            drawn.append((number, float(pool[int(self.rng.integers(len(pool)))])))
        return drawn

    def _with(self, graph: Data, changes: Sequence[tuple[_Number, float]]) -> Data:
        changed = graph.clone()
        for number, value in changes:
            table(changed[number.name])[list(number.rows), number.column] = value
        return changed

    def _shuffled(self, graph: Data, name: str, column: int) -> Data:
        changed, pool = graph.clone(), self.pools[name, column]
        rows = table(changed[name])
        rows[:, column] = pool[torch.from_numpy(self.rng.integers(len(pool), size=len(rows)))]
        return changed

    def _score(self, graphs: Sequence[Data]) -> Tensor:
        if not graphs:
            return torch.zeros(0, dtype=torch.double)
        return self.target.given(self.real.classifier.score_data(list(graphs))).cpu()


def _around(
    own: float, values: Sequence[float], good: Sequence[bool]
) -> tuple[float | None, float | None]:
    """The widest range around a value in which all that was tried is good; ends lie half-way.

    An end that only the least or the greatest value is beyond is none.
    """
    tried = sorted(zip(values, good, strict=True))
    ends: list[float | None] = []
    for outward in (
        [one for one in reversed(tried) if one[0] < own],
        [one for one in tried if one[0] > own],
    ):
        inside, end = own, None
        for place, (value, fits) in enumerate(outward):
            if not fits:
                end = (value + inside) / 2 if place < len(outward) - 1 else None
                break
            inside = value
        ends.append(end)
    return ends[0], ends[1]
