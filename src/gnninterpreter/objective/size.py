"""Size: of graphs that are equally good otherwise, the one with fewer edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from gnninterpreter.objective.base import Iterate, Proposals, Term


@dataclass(frozen=True)
class Size(Term):
    """The number of edges as a share of the limit; on discrete graphs only."""

    smooth: ClassVar[bool] = True
    required: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Name in histories and reports."""
        return "size"

    def soft(self, iterate: Iterate) -> Tensor | None:
        """The gradient has no wish for small graphs, only a limit."""
        return None

    def discrete(self, proposals: Proposals) -> Tensor:
        """Return [B]."""
        return proposals.edges / proposals.aim.max_edges

    def guide(self, proposals: Proposals) -> Tensor:
        """The number of edges, [B]."""
        return proposals.edges
