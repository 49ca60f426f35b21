"""What is kept of the real graphs of one class, to say how far a graph could be one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.datasets._storage import below
from gnninterpreter.equality import ByValue
from gnninterpreter.errors import CheckpointError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.recording import recording
from gnninterpreter.typicality.descriptors import Described, describe
from gnninterpreter.typicality.environments import Environments
from gnninterpreter.typicality.kinds import EDGES, NODES, Kinds, kind_names
from gnninterpreter.typicality.measuring import (
    NEIGHBOURS,
    Frame,
    Known,
    Measuring,
)

QUANTILES = 101
# Figures that percentiles are taken of, and which of them need not be counted.
FIGURES, RARE, DENSITY = 5, 3, 4
SEEN, HELD, AROUND = "seen.", "held.", "environments."


@dataclass(frozen=True, eq=False)
class TypicalityBank(Measuring, ByValue):
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

    @property
    def layout(self) -> tuple[Any, ...]:
        """What banks must have in common to be asked side by side."""
        return (*sorted(self.seen), *sorted(self.held), min(len(self.graphs), NEIGHBOURS))

    def select(self, rows: Tensor | slice) -> TypicalityBank:
        """The same: all graphs are compared with one class."""
        return self

    def _own(self, table: Tensor) -> Tensor:
        return table

    @cached_property
    def _known(self) -> tuple[Known, Known]:
        return Known(self.graphs), Known(self.nodes)

    def _near_graphs(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        near, which = self._known[0].nearest(rows, NEIGHBOURS)
        return near, self.graph_own.to(rows)[which]

    def _near_nodes(self, rows: Tensor, here: Tensor) -> Tensor:
        if recording():
            return self._known[1].least(rows.flatten(0, 1)).view(here.shape)
        # Absent nodes are not looked up: they are many, and a soft graph has none.
        return rows.new_zeros(here.shape).masked_scatter(here, self._known[1].least(rows[here]))

    def _strange(self, counts: Tensor, name: str) -> Tensor:
        return counts @ (~self.seen[name]).to(counts)

    def _rarity(self, found: Described) -> Tensor | None:
        known = self.environments
        return None if known is None else known.rarity_of(*found.codes, found.presence.dtype)

    def to(self, device: torch.device | str) -> TypicalityBank:
        """The same on another device."""

        def moved(value: Any) -> Any:
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
