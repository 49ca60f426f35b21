"""Banks of several classes that are searched for together: each graph is compared with its own.

What is different for each class but of one shape is a table, of which each graph takes its row, so
that a GPU is asked once for all classes; only distances are asked for class by class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gnninterpreter.equality import ByValue
from gnninterpreter.typicality.bank import TypicalityBank
from gnninterpreter.typicality.descriptors import Described
from gnninterpreter.typicality.measuring import Frame, Measuring


@dataclass(frozen=True, eq=False)
class SideBySide(Measuring, ByValue):
    """Several banks beside each other, made by `of`.

    Args:
        banks: The banks, [Q].
        place: Which of them each graph is compared with, [B], in their order.
        spans: Rows of the graphs that are compared with each.
        node_frame: Tables of the banks' figures, and so are all other fields.
    """

    banks: tuple[TypicalityBank, ...]
    place: Tensor
    spans: tuple[slice, ...]
    node_frame: Frame
    graph_frame: Frame
    node_unit: Tensor
    quantiles: Tensor
    limits: Tensor
    seen: Mapping[str, Tensor]
    held: Mapping[str, Tensor]
    density: Tensor | None

    @classmethod
    def of(cls, banks: Sequence[TypicalityBank]) -> SideBySide:
        """Banks of the same model, to begin with for no graphs."""

        def table(*each: Tensor) -> Tensor:
            return torch.stack(each)

        first, *rest = banks
        node_frame, graph_frame = (
            getattr(first, name).each(table, *(getattr(bank, name) for bank in rest))
            for name in ("node_frame", "graph_frame")
        )
        dense = [bank.density for bank in banks]
        unknown = torch.full_like(first.node_unit, torch.nan)
        return cls(
            tuple(banks),
            torch.zeros(0, dtype=torch.long, device=unknown.device),
            (slice(0, 0),) * len(banks),
            node_frame.each(lambda part: part.unsqueeze(1)),
            graph_frame,
            torch.stack([bank.node_unit for bank in banks]).unsqueeze(1),
            torch.stack([bank.quantiles for bank in banks]),
            torch.stack([bank.limits for bank in banks]),
            {name: torch.stack([bank.seen[name] for bank in banks]) for name in first.seen},
            first.held,
            None
            if all(one is None for one in dense)
            else torch.stack([unknown if one is None else one.to(unknown) for one in dense]),
        )

    def for_(self, place: Tensor, spans: Sequence[slice]) -> SideBySide:
        """The same for graphs of which these are to be compared with each."""
        return replace(self, place=place, spans=tuple(spans))

    def own(self, table: Tensor) -> Tensor:
        """Each graph's own row of a table, [B, ...]."""
        return table[self.place]

    def select(self, rows: Tensor) -> SideBySide:
        """The same for some of the graphs."""
        place, every = self.place[rows], torch.arange(len(self.banks), device=self.place.device)
        ends = torch.searchsorted(place, every, right=True).tolist()
        spans = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        return self.for_(place, spans)

    def near_graphs(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """How far B graphs are from the nearest real ones, and how far these are from others."""
        found = [bank.near_graphs(rows[own]) for bank, own in self._asked()]
        near, others = zip(*found, strict=True)
        return torch.cat(near), torch.cat(others)

    def near_nodes(self, rows: Tensor, here: Tensor) -> Tensor:
        """How far each node that is there is from the nearest real one, [B, N]."""
        return torch.cat([bank.near_nodes(rows[own], here[own]) for bank, own in self._asked()])

    def strange(self, counts: Tensor, name: str) -> Tensor:
        """How much of a table is of kinds that hardly any real graph has, [B]."""
        each = counts @ (~self.seen[name]).to(counts).T
        return each.gather(1, self.place.unsqueeze(1)).squeeze(1)

    def rarity(self, found: Described) -> Tensor | None:
        """How rare what lies around nodes is, [B]; 0 where that was not counted."""
        if all(bank.environments is None for bank in self.banks):
            return None
        codes, here = found.codes

        def asked(bank: TypicalityBank, own: slice) -> Tensor:
            if bank.environments is None:
                return torch.zeros_like(found.edges[own])
            return bank.environments.rarity_of(codes[own], here[own], found.edges.dtype)

        return torch.cat([asked(bank, own) for bank, own in self._asked()])

    def _asked(self) -> list[tuple[TypicalityBank, slice]]:
        """Each bank that any graph is compared with, and the rows of these graphs."""
        every = list(zip(self.banks, self.spans, strict=True))
        return [(bank, own) for bank, own in every if own.stop > own.start] or every[:1]
