"""Wholeness and size: one piece within the limits, and of equally good graphs the smaller one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from gnninterpreter.objective.base import Iterate, Proposals, Term

FEWEST_NODES = 3
# What being over a limit at all counts for, in units of its excess: by less than one edge, too, a
# graph over its limit is no result.
OVER_LIMIT = 0.05


def violation(proposals: Proposals) -> Tensor:
    """How far graphs are from one piece of allowed size, [B]; 0 where they are that."""
    graphs, aim = proposals.graphs, proposals.aim
    excess = (proposals.edges / aim.max_edges - 1).clamp_min(0)
    excess = excess + (proposals.nodes / aim.max_nodes - 1).clamp_min(0)
    reached, present = graphs.main_component()
    loose = (present & ~reached).sum(dim=1)
    small = (FEWEST_NODES - proposals.nodes).clamp_min(0)
    # A constant for being over a limit or in pieces at all, and something for how far.
    return excess + OVER_LIMIT * excess.gt(0) + 0.2 * loose.gt(0) + 0.05 * loose + small


@dataclass(frozen=True)
class Wholeness(Term):
    r"""One connected graph of at least three nodes within the limits on nodes and edges.

    Differs from the paper: its budget is a count squared, so that one weight cannot fit graphs of
    ten and of seventy edges. The soft reading is the share by which the expected number of edges
    exceeds the limit, :math:`\max(0, \|\sigma(\Omega)\|_1 / B - 1)`; being in one piece has none,
    and is left to the discrete phases.
    """

    name: ClassVar[str] = "wholeness"

    def soft(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        return (iterate.distribution.expected_edges / iterate.aim.max_edges - 1).clamp_min(0)

    def discrete(self, proposals: Proposals) -> Tensor:
        """Return [B]."""
        return violation(proposals)

    def feasible(self, proposals: Proposals) -> Tensor:
        """Whether nothing is violated, [B]."""
        cost = proposals.cost_of(self)
        assert cost is not None
        return cost <= 0


@dataclass(frozen=True)
class Size(Term):
    """The number of edges as a share of the limit; on discrete graphs only."""

    name: ClassVar[str] = "size"
    smooth: ClassVar[bool] = True
    required: ClassVar[bool] = False

    def soft(self, iterate: Iterate) -> Tensor | None:
        """The gradient has no wish for small graphs, only a limit."""
        return None

    def discrete(self, proposals: Proposals) -> Tensor:
        """Return [B]."""
        return proposals.edges / proposals.aim.max_edges

    def guide(self, proposals: Proposals) -> Tensor:
        """The number of edges, [B]."""
        return proposals.edges
