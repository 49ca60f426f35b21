"""How strange graphs are beside real graphs: five figures and a border.

*Nodes*: how far each node lies from the nearest node of real graphs. *Whole*: how far the graph
lies from the nearest real graphs, in size and shape. *Local*: the same in units of what those
neighbours have among themselves: a near miss is told from a member where real graphs are alike.
*Rare*: how few real graphs hold what lies around its nodes. *Density*: how far its edges per node
are from those of the class. Each is compared with what real graphs have beside other real graphs.
Beyond the border are sizes that are not usual and kinds of nodes and edges that hardly any real
graph has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

import torch
from torch import Tensor

from gnninterpreter.batches import parts_of
from gnninterpreter.equality import Alike, ByValue
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.typicality.descriptors import Described, describe

# Percentile among real graphs from which on a graph is typical.
BAR = 40.0
NEIGHBOURS = 5
# What the strangest node counts beside the mean over nodes.
WORST = 0.5
# Squared distances below this are rounding: banks are stored as halves.
ROUNDING = 4e-4
# Lying beyond the border by as much as its own size costs this many units of distance.
BORDER = 3.0
# Distances that are held at once: on a GPU, and on a CPU, whose cache they are to stay in.
MOST_PAIRS, CACHED_PAIRS = 2**28, 2**18


@dataclass(frozen=True, eq=False)
class Frame(Alike, ByValue):
    """How blocks of a description become one row in which distances mean something."""

    shift: Tensor
    scale: Tensor

    def __call__(self, blocks: Mapping[str, Tensor]) -> Tensor:
        """Put blocks side by side, shifted and scaled; [..., columns]."""
        values = torch.cat(list(blocks.values()), dim=-1)
        return (values - self.shift.to(values)) * self.scale.to(values)


@dataclass(frozen=True)
class Strangeness(Alike):
    """How strange B graphs are; every field has shape [B], and 0 is as usual as can be.

    ``nodes``: the mean over nodes, and some of the worst; ``local``: the whole in units of the
    neighbours' own distances; ``outside``: how far the size is from usual ones, and the share of
    kinds hardly seen; ``rare``: 0 where that was not counted.
    """

    nodes: Tensor
    whole: Tensor
    local: Tensor
    outside: Tensor
    rare: Tensor
    density: Tensor

    def figures(self) -> Tensor:
        """What percentiles are taken of, [B, FIGURES]."""
        return torch.stack([self.nodes, self.whole, self.local, self.rare, self.density], dim=1)


class Measuring(ABC):
    """Says how strange graphs are: to one class, or each to its own.

    Figures are those of one class, or tables with a row for each; see `TypicalityBank`.
    """

    node_frame: Frame
    graph_frame: Frame
    node_unit: Tensor
    quantiles: Tensor
    limits: Tensor
    seen: Mapping[str, Tensor]
    held: Mapping[str, Tensor]
    density: Tensor | None

    @abstractmethod
    def _own(self, table: Tensor) -> Tensor:
        """Of a table each graph's own row, [B, ...]; figures of one class as they are."""

    @abstractmethod
    def select(self, rows: Tensor | slice) -> Measuring:
        """The same for some of the graphs."""

    @abstractmethod
    def _near_graphs(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """How far B graphs are from the nearest real ones, and how far these are from others.

        The former as `Known.nearest` has it.
        """

    @abstractmethod
    def _near_nodes(self, rows: Tensor, here: Tensor) -> Tensor:
        """How far each node that is there is from the nearest real one, [B, N], likewise."""

    @abstractmethod
    def _strange(self, counts: Tensor, name: str) -> Tensor:
        """How much of a table is of kinds that hardly any real graph has, [B]."""

    @abstractmethod
    def _rarity(self, found: Described) -> Tensor | None:
        """How rare what lies around nodes is, [B]; None where that was not counted."""

    def strangeness(self, graphs: DenseGraphs) -> Strangeness:
        """Measure B graphs; soft ones too, with a slope. Fewest candidate nodes are fastest."""
        parts = parts_of(graphs)
        if len(parts) > 1:
            first, *rest = (one.strangeness(part) for one, part in self._in_parts(parts))
            return first.each(lambda *each: torch.cat(each), *rest)
        found = describe(graphs)
        return replace(self._as_wholes(found), nodes=self._nodes(found.nodes, found.presence))

    def reaches(self, graphs: DenseGraphs, bar: float = BAR) -> Tensor:
        """Whether B graphs are as typical as asked for, [B]; nodes take longest and come last."""
        parts = parts_of(graphs)
        if len(parts) > 1:
            return torch.cat([one.reaches(part, bar) for one, part in self._in_parts(parts)])
        found = describe(graphs)
        passed = self.penalty(self._as_wholes(found), bar) <= 0
        rows = passed.nonzero().squeeze(1)
        if rows.numel():
            each, some = {name: part[rows] for name, part in found.nodes.items()}, self.select(rows)
            nodes = some._nodes(each, found.presence[rows])
            nothing = [torch.zeros_like(nodes)] * 5
            passed[rows] = some.penalty(Strangeness(nodes, *nothing), bar) <= 0
        return passed

    def _in_parts(self, parts: list[DenseGraphs]) -> list[tuple[Measuring, DenseGraphs]]:
        """Some graphs at a time, each with what says how strange they are."""
        ends = accumulate(map(len, parts))
        return [
            (self.select(slice(end - len(p), end)), p) for p, end in zip(parts, ends, strict=True)
        ]

    def _as_wholes(self, found: Described) -> Strangeness:
        """How strange graphs are but for their nodes, of which nothing is said."""
        rows = self.graph_frame.each(self._own)(found.graphs)
        near, others = self._near_graphs(rows)
        whole, local = compared(rooted(near + squares(rows).unsqueeze(1)), others)
        outside = self._outside_sizes(found) + self._outside_tables(found)
        nothing = torch.zeros_like(whole)
        rare, density = self._rarity(found), nothing
        if self.density is not None:
            per_node = found.edges / found.presence.sum(1).clamp_min(1)
            # Nothing where it was not counted, of which a table says NaN.
            density = (per_node - self._own(self.density).to(whole)).abs().nan_to_num(0.0)
        return Strangeness(
            nothing, whole, local, outside, nothing if rare is None else rare, density
        )

    def percentile(self, graphs: DenseGraphs) -> Tensor:
        """Share of real graphs that are at least as strange, in percent; [B].

        The least of nodes, whole, local, rare and density; 0 beyond the border.
        """
        found = self.strangeness(graphs)
        return torch.where(found.outside > 1e-6, 0.0, self.percentiles(found).amin(1))

    def percentiles(self, found: Strangeness) -> Tensor:
        """The same for each of the figures by itself, [B, figures]."""
        parts = found.figures()
        levels = roomy(self._own(self.quantiles).to(parts))
        return 100 * (parts.unsqueeze(2) <= levels).to(parts.dtype).mean(2)

    def penalty(self, graphs: DenseGraphs | Strangeness, bar: float = BAR) -> Tensor:
        """0 where a graph is as typical as asked for, more the farther it is from that; [B]."""
        found = graphs if isinstance(graphs, Strangeness) else self.strangeness(graphs)
        values = found.figures()
        levels = self.quantiles.to(values)
        unit = ((levels[..., 50] + levels[..., 95]) / 2).clamp_min(0.05)
        least = roomy(levels[..., round(100 - bar)])
        over = (values - self._own(least)).clamp_min(0) / self._own(unit)
        return BORDER * found.outside + over.sum(1)

    def _nodes(self, blocks: Mapping[str, Tensor], presence: Tensor) -> Tensor:
        """How strange nodes are, the mean and some of the worst; [B]."""
        rows = self.node_frame.each(self._own)(blocks)
        here = presence > 0
        apart = torch.where(here, rooted(self._near_nodes(rows, here) + squares(rows)), 0.0)
        return combined(apart / self._own(self.node_unit).to(rows), presence)

    def _outside_sizes(self, found: Described) -> Tensor:
        """By how much there are fewer or more nodes or edges than usual, as a share; [B]."""
        sizes = torch.stack([found.presence.sum(1), found.edges], dim=1)
        limits = self._own(self.limits).to(sizes)
        low, high = limits[..., 0::2], limits[..., 1::2]
        out: Tensor = (1 - sizes / low).clamp_min(0) + (sizes / high - 1).clamp_min(0)
        return out.sum(1)

    def _outside_tables(self, found: Described) -> Tensor:
        """How much there is of kinds that hardly any real graph has; [B]."""
        total = torch.zeros_like(found.presence[:, 0])
        for name, counts in found.tables.items():
            if name not in self.seen:  # stored before these were counted
                continue
            strange = self._strange(counts, name)
            # A combination counts as a share; one node of a rare kind is too many at any size.
            share = strange / counts.sum(1).clamp_min(1)
            total = total + (strange.log1p() if name in self.held else share)
        return total


class Known:
    """Rows that others are compared with, [M, D], ready for products.

    Distances are squared and without the squares of the others, for `rooted`.
    """

    def __init__(self, rows: Tensor) -> None:
        self.other, self.squares = -2 * rows.T, squares(rows)

    def nearest(self, rows: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """How far rows are from their nearest ones, and which these are; [rows, count]."""
        count = min(count, self.squares.numel())
        parts = [part.topk(count, 1, largest=False) for part in self._products(rows)]
        low, which = (torch.cat(found) for found in zip(*parts, strict=True))
        return low, which

    def least(self, rows: Tensor) -> Tensor:
        """How far rows are from the nearest one, [rows]; faster than `nearest`."""
        # The slope of the least of equal distances is that of one of them, not of all a little.
        sloped = rows.requires_grad
        return torch.cat(
            [part.min(1).values if sloped else part.amin(1) for part in self._products(rows)]
        )

    def _products(self, rows: Tensor) -> Iterator[Tensor]:
        other, own = self.other.to(rows), self.squares.to(rows)
        most = CACHED_PAIRS if rows.device.type == "cpu" else MOST_PAIRS
        for part in torch.split(rows, max(1, most // own.numel())):
            yield torch.addmm(own, part, other)


def nearest(rows: Tensor, bank: Tensor, count: int) -> Tensor:
    """Distances of each row to its nearest rows of the bank, [rows, count]."""
    return rooted(Known(bank).nearest(rows, count)[0] + squares(rows).unsqueeze(1))


def squares(rows: Tensor) -> Tensor:
    """Sum of the squares of each row."""
    return (rows**2).sum(-1)


def rooted(squared: Tensor) -> Tensor:
    """Distances from squared ones, 0 up to rounding, with a finite slope."""
    return (squared.clamp_min(ROUNDING) - ROUNDING + 1e-8).sqrt()


def compared(apart: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
    """Mean distance to neighbours, and the same in units of the neighbours' own distances; [B]."""
    distance = apart.mean(1)
    return distance, distance / own.mean(1)


def combined(apart: Tensor, presence: Tensor) -> Tensor:
    """Mean over nodes of what lies beyond 1, and half of the worst; [B]."""
    excess = (apart - 1).clamp_min(0) * presence
    return excess.sum(1) / presence.sum(1).clamp_min(1) + WORST * excess.amax(1)


def roomy(level: Tensor) -> Tensor:
    """A little more: another order of the same sums must not turn equal into stranger."""
    return level * 1.001 + 1e-3
