"""Banks of several classes that are searched for together: each graph is compared with its own.

What is different for each class but of one shape is a table, of which each graph takes its row, so
that a GPU is asked once for all classes; only distances are asked for class by class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    density: Tensor

    @classmethod
    def of(cls, banks: Sequence[TypicalityBank]) -> SideBySide:
        """Banks with one layout, to begin with for no graphs."""
        first, *rest = banks
        unknown = torch.full_like(first.node_unit, torch.nan)

        def table(read: Callable[[TypicalityBank], Tensor]) -> Tensor:
            return torch.stack([read(bank) for bank in banks])

        def frames(read: Callable[[TypicalityBank], Frame]) -> Frame:
            return read(first).each(lambda *each: torch.stack(each), *map(read, rest))

        return cls(
            tuple(banks),
            torch.zeros(0, dtype=torch.long, device=unknown.device),
            (slice(0, 0),) * len(banks),
            frames(lambda bank: bank.node_frame).each(lambda part: part.unsqueeze(1)),
            frames(lambda bank: bank.graph_frame),
            table(lambda bank: bank.node_unit).unsqueeze(1),
            table(lambda bank: bank.quantiles),
            table(lambda bank: bank.limits),
            {name: torch.stack([bank.seen[name] for bank in banks]) for name in first.seen},
            first.held,
            table(lambda bank: unknown if bank.density is None else bank.density),
        )

    def for_(self, place: Tensor, spans: Sequence[slice]) -> SideBySide:
        """The same for graphs of which these are to be compared with each."""
        return replace(self, place=place, spans=tuple(spans))

    def select(self, rows: Tensor | slice) -> SideBySide:
        """The same for some of the graphs."""
        place = self.place[rows]
        return self.for_(place, spans_of(place, len(self.banks)))

    def _own(self, table: Tensor) -> Tensor:
        return table[self.place]

    def _near_graphs(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        found = [bank._near_graphs(rows[own]) for bank, own in self._asked()]
        near, others = zip(*found, strict=True)
        return torch.cat(near), torch.cat(others)

    def _near_nodes(self, rows: Tensor, here: Tensor) -> Tensor:
        return torch.cat([bank._near_nodes(rows[own], here[own]) for bank, own in self._asked()])

    def _strange(self, counts: Tensor, name: str) -> Tensor:
        each = counts @ (~self.seen[name]).to(counts).T
        return each.gather(1, self.place.unsqueeze(1)).squeeze(1)

    def _rarity(self, found: Described) -> Tensor | None:
        known = [(bank.environments, own) for bank, own in self._asked()]
        if all(around is None for around, _ in known):
            return None
        (codes, here), nothing = found.codes, torch.zeros_like(found.edges)
        return torch.cat(
            [
                nothing[own]
                if around is None
                else around.rarity_of(codes[own], here[own], nothing.dtype)
                for around, own in known
            ]
        )

    def _asked(self) -> list[tuple[TypicalityBank, slice]]:
        """Each bank that any graph is compared with, and the rows of these graphs."""
        every = list(zip(self.banks, self.spans, strict=True))
        return [(bank, own) for bank, own in every if own.stop > own.start] or every[:1]


def spans_of(place: Tensor, count: int) -> list[slice]:
    """Rows of each of so many groups, where rows are in the order of their groups, [B]."""
    ends = torch.searchsorted(place, torch.arange(count, device=place.device), right=True).tolist()
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
