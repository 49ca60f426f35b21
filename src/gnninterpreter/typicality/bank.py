"""Typicality: how far a graph could be one of its class, measured against real graphs.

Five figures and a border. *Nodes*: how far each node lies from the nearest node of real graphs.
*Whole*: how far the graph lies from the nearest real graphs, in size and shape. *Local*: the same
in units of what those neighbours have among themselves: a near miss is told from a member where
real graphs are alike. *Rare*: how few real graphs hold what lies around its nodes. *Density*: how
far its edges per node are from those of the class. Each is compared with what real graphs have
beside other real graphs. Beyond the border are sizes that are not usual and kinds of nodes and
edges that hardly any real graph has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.batches import parts_of
from gnninterpreter.datasets._storage import below
from gnninterpreter.equality import Alike, ByValue
from gnninterpreter.errors import CheckpointError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.recording import recording
from gnninterpreter.typicality.descriptors import Described, describe
from gnninterpreter.typicality.environments import Environments
from gnninterpreter.typicality.kinds import EDGES, NODES, Kinds, kind_names

# Percentile among real graphs from which on a graph is typical.
BAR = 40.0
NEIGHBOURS = 5
# What the strangest node counts beside the mean over nodes.
WORST = 0.5
QUANTILES = 101
# Figures that percentiles are taken of, and which of them need not be counted.
FIGURES, RARE, DENSITY = 5, 3, 4
# Squared distances below this are rounding: banks are stored as halves.
ROUNDING = 4e-4
# Lying beyond the border by as much as its own size costs this many units of distance.
BORDER = 3.0
SEEN, HELD, AROUND = "seen.", "held.", "environments."
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

    @staticmethod
    def cat(parts: Sequence[Strangeness]) -> Strangeness:
        """Put graphs one after the other."""
        first, *rest = parts
        return first.each(lambda *each: torch.cat(each), *rest) if rest else first


@dataclass(frozen=True, eq=False)
class TypicalityBank(ByValue):
    """What real graphs of one class look like; made by `gnninterpreter.typicality.fit`.

    Args:
        node_frame: How descriptions of nodes are compared; ``graph_frame``: of graphs.
        nodes: Nodes of real graphs, [M, D]; ``graphs``: real graphs, [G, K].
        node_unit: Distance of a node beyond which it is not at home, [].
        graph_own: Distance of each of ``graphs`` to others, not below a least one, [G].
        quantiles: Of what real graphs have themselves, [FIGURES, 101]; infinite if not counted.
        limits: Fewest and most nodes, fewest and most edges that are usual, [4].
        seen: For each table of categories, which of them occur in real graphs.
        held: For each table of kinds the number of real graphs, and how many hold each kind.
        environments: How many real graphs hold what lies around a node; None if not counted.
        density: Mean of the edges per node of real graphs, []; None if not counted.
    """

    node_frame: Frame
    graph_frame: Frame
    nodes: Tensor
    graphs: Tensor
    node_unit: Tensor
    graph_own: Tensor
    quantiles: Tensor
    limits: Tensor
    seen: Mapping[str, Tensor]
    held: Mapping[str, Tensor] = field(default_factory=dict)
    environments: Environments | None = None
    density: Tensor | None = None

    def __post_init__(self) -> None:
        """Figures that were not counted rule nothing out."""
        missing = self.quantiles.new_full((FIGURES - len(self.quantiles), QUANTILES), torch.inf)
        object.__setattr__(self, "quantiles", torch.cat([self.quantiles, missing]))

    def with_kinds(self, kinds: Kinds) -> TypicalityBank:
        """The same where kinds that hardly any real graph holds are not typical."""
        seen = {name: ~rare for name, rare in kinds.rare.items()}
        return replace(self, seen={**self.seen, **seen}, held=kinds.held)

    def with_environments(self, known: Environments, real: DenseGraphs) -> TypicalityBank:
        """The same where graphs are strange, too, by what hardly any real graph holds."""
        levels = known.levels(real, QUANTILES)
        if levels is None:
            return self
        return replace(self, quantiles=self.with_levels(RARE, levels), environments=known)

    def with_levels(self, figure: int, levels: Tensor) -> Tensor:
        """The quantiles with other ones of one figure, [FIGURES, 101]."""
        quantiles = self.quantiles.clone()
        quantiles[figure] = levels
        return quantiles

    def rare_kinds(self, graph: DenseGraphs) -> dict[str, tuple[int, int]]:
        """Kinds of one graph that hardly any real one holds: how many do, of how many."""
        found, rare = describe(graph), {}
        for table, blocks in ((NODES, graph.spec.nodes), (EDGES, graph.spec.edges)):
            if table not in self.held:
                continue
            here = (found.tables[table][0] > 0.5) & ~self.seen[table]
            every, *each = (int(count) for count in self.held[table].tolist())
            for name, held, there in zip(kind_names(blocks), each, here.tolist(), strict=True):
                if there and name is not None:
                    rare[name] = (held, every)
        return rare

    def as_rare(self, graph: DenseGraphs) -> float | None:
        """Share of real graphs made of parts as rare as those of one graph, in percent."""
        if self.environments is None:
            return None
        return float(self.percentiles(self.strangeness(graph))[0, RARE])

    def from_size(self, nodes: int) -> TypicalityBank:
        """The same for graphs that have at least so many nodes."""
        limits = self.limits.clone()
        limits[0] = nodes
        return replace(self, limits=limits)

    def strangeness(self, graphs: DenseGraphs) -> Strangeness:
        """Measure B graphs; soft ones too, with a slope. Fewest candidate nodes are fastest."""
        found = [self.measured(describe(part)) for part in parts_of(graphs)]
        return Strangeness.cat(found)

    def measured(self, found: Described) -> Strangeness:
        """The same of graphs that are described."""
        return replace(self._as_wholes(found), nodes=self._nodes(found))

    def reaches(self, graphs: DenseGraphs, bar: float) -> Tensor:
        """Whether B graphs are as typical as asked for, [B]."""
        return torch.cat([self.passes(describe(part), bar) for part in parts_of(graphs)])

    def passes(self, found: Described, bar: float) -> Tensor:
        """The same of graphs that are described; nodes take longest and come last."""
        passed = self.penalty(self._as_wholes(found), bar) <= 0
        rows = passed.nonzero().squeeze(1)
        if rows.numel():
            nodes = self._nodes(found, rows)
            passed[rows] = (
                self.penalty(Strangeness(nodes, *[torch.zeros_like(nodes)] * 5), bar) <= 0
            )
        return passed

    def _as_wholes(self, found: Described) -> Strangeness:
        """How strange graphs are but for their nodes, of which nothing is said."""
        rows = self.graph_frame(found.graphs)
        apart, which = nearest(rows, self.graphs.to(rows), NEIGHBOURS)
        whole, local = compared(apart, self.graph_own.to(rows)[which])
        outside = self._outside_sizes(found) + self._outside_tables(found)
        nothing = torch.zeros_like(whole)
        known = self.environments
        rare = nothing if known is None else known.rarity_of(*found.codes, whole.dtype)
        density = nothing
        if self.density is not None:
            per_node = found.edges / found.presence.sum(1).clamp_min(1)
            density = (per_node - self.density.to(whole)).abs()
        return Strangeness(nothing, whole, local, outside, rare, density)

    def percentile(self, graphs: DenseGraphs) -> Tensor:
        """Share of real graphs that are at least as strange, in percent; [B].

        The least of nodes, whole, local, rare and density; 0 beyond the border.
        """
        found = self.strangeness(graphs)
        return torch.where(found.outside > 1e-6, 0.0, self.percentiles(found).amin(1))

    def percentiles(self, found: Strangeness) -> Tensor:
        """The same for each of the figures by itself, [B, figures]."""
        parts = found.figures()
        levels = roomy(self.quantiles.to(parts))
        return 100 * (parts.unsqueeze(2) <= levels).to(parts.dtype).mean(2)

    def penalty(self, graphs: DenseGraphs | Strangeness, bar: float = BAR) -> Tensor:
        """0 where a graph is as typical as asked for, more the farther it is from that; [B]."""
        found = graphs if isinstance(graphs, Strangeness) else self.strangeness(graphs)
        values = found.figures()
        levels = self.quantiles.to(values)
        unit = ((levels[:, 50] + levels[:, 95]) / 2).clamp_min(0.05)
        over = (values - roomy(levels[:, round(100 - bar)])).clamp_min(0) / unit
        return BORDER * found.outside + over.sum(1)

    def _nodes(self, found: Described, some: Tensor | None = None) -> Tensor:
        """How strange nodes are, mean and worst; ``some``: of these graphs alone."""
        blocks, presence = found.nodes, found.presence
        if some is not None:
            blocks, presence = {name: b[some] for name, b in blocks.items()}, presence[some]
        rows = self.node_frame(blocks)
        here = presence > 0
        if recording():
            near = _least(rows.flatten(0, 1), self.nodes.to(rows))
            apart = torch.where(here, near.view(here.shape), 0.0)
        else:
            # Absent nodes are not looked up: they are many, and a soft graph has none.
            near = _least(rows[here], self.nodes.to(rows))
            apart = rows.new_zeros(presence.shape).masked_scatter(here, near)
        return combined(apart / self.node_unit.to(rows), presence)

    def _outside_sizes(self, found: Described) -> Tensor:
        """By how much there are fewer or more nodes or edges than usual, as a share; [B]."""
        sizes = torch.stack([found.presence.sum(1), found.edges])
        low, high = self.limits.to(sizes).view(2, 2).T.unsqueeze(2)
        out: Tensor = (1 - sizes / low).clamp_min(0) + (sizes / high - 1).clamp_min(0)
        return out.sum(0)

    def _outside_tables(self, found: Described) -> Tensor:
        """How much there is of kinds that hardly any real graph has; [B]."""
        total = torch.zeros_like(found.presence[:, 0])
        for name, counts in found.tables.items():
            if name not in self.seen:  # stored before these were counted
                continue
            strange = counts @ (~self.seen[name]).to(counts)
            # A combination counts as a share; one node of a rare kind is too many at any size.
            share = strange / counts.sum(1).clamp_min(1)
            total = total + (strange.log1p() if name in self.held else share)
        return total

    def to(self, device: torch.device | str) -> TypicalityBank:
        """The same on another device."""

        def moved(value: Any) -> Any:
            if isinstance(value, Frame):
                return value.each(lambda part: part.to(device))
            if isinstance(value, Mapping):
                return {name: table.to(device) for name, table in value.items()}
            return None if value is None else value.to(device)

        return TypicalityBank(*(moved(getattr(self, field.name)) for field in fields(self)))

    def tensors(self) -> dict[str, Tensor]:
        """Return the bank as named tensors, halves where they suffice."""
        stored = {
            "node_shift": self.node_frame.shift,
            "node_scale": self.node_frame.scale,
            "graph_shift": self.graph_frame.shift,
            "graph_scale": self.graph_frame.scale,
            "nodes": self.nodes.half(),
            "graphs": self.graphs.half(),
        }
        apart = {"node_frame", "graph_frame", "seen", "held", "environments", *stored}
        plain = {field.name for field in fields(self)} - apart
        each = {name: getattr(self, name) for name in sorted(plain)}
        stored |= {name: value for name, value in each.items() if value is not None}
        stored |= {SEEN + name: table for name, table in self.seen.items()}
        stored |= {HELD + name: counts for name, counts in self.held.items()}
        if self.environments is not None:
            stored |= {AROUND + name: part for name, part in self.environments.tensors().items()}
        return {name: value.cpu().contiguous() for name, value in stored.items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> TypicalityBank:
        """Read what `tensors` wrote."""
        around = below(tensors, AROUND)
        try:
            levels = tensors["quantiles"]
            fits = levels.dim() == 2 and RARE <= levels.size(0) <= FIGURES
            # What is stored once for all classes does not speak for each of them.
            counted = fits and len(levels) > RARE and bool(levels[RARE].isfinite().all())
            if not fits or (counted and len(around["held"]) != len(around["keys"]) + 1):
                raise CheckpointError("stored typicality does not fit together; store it again")
            return cls(
                Frame(tensors["node_shift"], tensors["node_scale"]),
                Frame(tensors["graph_shift"], tensors["graph_scale"]),
                tensors["nodes"].float(),
                tensors["graphs"].float(),
                tensors["node_unit"],
                tensors["graph_own"],
                levels,
                tensors["limits"],
                below(tensors, SEEN),
                below(tensors, HELD),
                Environments.from_tensors(around) if counted else None,
                tensors.get("density"),
            )
        except KeyError as error:
            raise CheckpointError(f"stored typicality lacks {error}; store it again") from None


def nearest(rows: Tensor, bank: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Distances of each row to its nearest rows of the bank, and which these are; [rows, count]."""
    other, squares = -2 * bank.T, (bank**2).sum(1)
    count = min(count, bank.size(0))
    parts = [
        torch.addmm(squares, part, other).topk(count, 1, largest=False)
        for part in _parts(rows, bank)
    ]
    low, which = (torch.cat(found) for found in zip(*parts, strict=True))
    return rooted(low + (rows**2).sum(1, keepdim=True)), which


def _least(rows: Tensor, bank: Tensor) -> Tensor:
    """Distance of each row to the nearest row of the bank, [rows]; faster than `nearest`."""
    other, squares = -2 * bank.T, (bank**2).sum(1)
    apart = (torch.addmm(squares, part, other) for part in _parts(rows, bank))
    # The slope of the least of equal distances is that of one of them, not of all a little.
    parts = [far.min(1).values if rows.requires_grad else far.amin(1) for far in apart]
    return rooted(torch.cat(parts) + (rows**2).sum(1))


def _parts(rows: Tensor, bank: Tensor) -> tuple[Tensor, ...]:
    most = CACHED_PAIRS if rows.device.type == "cpu" else MOST_PAIRS
    return torch.split(rows, max(1, most // bank.size(0)))


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
