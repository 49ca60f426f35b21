"""Typical of one class or of another: what lies between them is compared with both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.batches import widened
from gnninterpreter.equality import ByValue
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.typicality.bank import TypicalityBank
from gnninterpreter.typicality.exemplars import Exemplars
from gnninterpreter.typicality.measuring import BAR, Frame, Strangeness
from gnninterpreter.typicality.typicality import Typicality


@dataclass(frozen=True, eq=False)
class EitherBank(ByValue):
    """Several banks, of which a graph has to be typical of one."""

    banks: tuple[TypicalityBank, ...]

    @property
    def graph_frame(self) -> Frame:
        """How descriptions of graphs are compared."""
        return self.banks[0].graph_frame

    @property
    def limits(self) -> Tensor:
        """Fewest and most nodes, fewest and most edges that are usual for any, [4]."""
        each = torch.stack([bank.limits for bank in self.banks])
        low, high = each.amin(0), each.amax(0)
        return torch.stack([low[0], high[1], low[2], high[3]])

    def strangeness(self, graphs: DenseGraphs) -> Strangeness:
        """How strange graphs are to each; every field has shape [B, banks]."""
        first, *rest = (bank.strangeness(graphs) for bank in self.banks)
        return first.each(lambda *each: torch.stack(each, 1), *rest)

    def percentile(self, graphs: DenseGraphs) -> Tensor:
        """Share of real graphs that are at least as strange, where it is highest; [B]."""
        return torch.stack([bank.percentile(graphs) for bank in self.banks]).amax(0)

    def rare_kinds(self, graph: DenseGraphs) -> dict[str, tuple[int, int]]:
        """Kinds of one graph that hardly any real one holds of any class: how many, of how many."""
        each = [bank.rare_kinds(graph) for bank in self.banks]
        names = [name for name in each[0] if all(name in one for one in each)]
        return {
            name: (sum(one[name][0] for one in each), sum(one[name][1] for one in each))
            for name in names
        }

    def as_rare(self, graph: DenseGraphs) -> float | None:
        """Share of real graphs made of parts as rare as those of one graph, where it is highest."""
        each = [bank.as_rare(graph) for bank in self.banks]
        return None if None in each else max(share for share in each if share is not None)

    def to(self, device: torch.device | str) -> EitherBank:
        """The same on another device."""
        return EitherBank(tuple(bank.to(device) for bank in self.banks))

    def tensors(self) -> dict[str, Tensor]:
        """The banks as named tensors; for looking, none are read back."""
        each = enumerate(self.banks)
        return {f"{i}.{name}": part for i, bank in each for name, part in bank.tensors().items()}

    def reaches(self, graphs: DenseGraphs, bar: float = BAR) -> Tensor:
        """Whether graphs are as typical as asked for, of one of them; [B]."""
        return torch.stack([bank.reaches(graphs, bar) for bank in self.banks]).any(0)

    def penalty(self, graphs: DenseGraphs | Strangeness, bar: float = BAR) -> Tensor:
        """What is missing to the bar, where it is least; [B]."""
        found = graphs if isinstance(graphs, Strangeness) else self.strangeness(graphs)
        owns = (found.each(lambda f, i=i: f[:, i]) for i in range(len(self.banks)))
        each = [bank.penalty(own, bar) for bank, own in zip(self.banks, owns, strict=True)]
        return torch.stack(each).amin(0)


def either(known: Sequence[Typicality]) -> Typicality:
    """What real graphs of several classes look like, each of them typical."""
    most = max(one.exemplars.graphs.num_candidates for one in known)
    graphs = DenseGraphs.cat([widened(one.exemplars.graphs, most) for one in known])
    percentile = torch.cat([one.exemplars.percentile for one in known])
    banks = tuple(bank for one in known if isinstance(bank := one.bank, TypicalityBank))
    # In turn, so that the first of them are of every class.
    turns = [torch.arange(len(one.exemplars)) * len(known) + i for i, one in enumerate(known)]
    order = torch.cat(turns).argsort()
    return Typicality(EitherBank(banks), Exemplars(graphs[order], percentile[order]))
