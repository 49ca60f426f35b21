"""The budget: explanations no larger than they need to be (paper, Appendix A, equation 8)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import softplus

from gnninterpreter.objective.base import Iterate, Proposals, Term


@dataclass(frozen=True)
class Budget(Term):
    r"""The penalty :math:`\mathrm{softplus}(\|\sigma(\Omega)\|_1 - B)^2`."""

    @property
    def name(self) -> str:
        """Name in histories and reports."""
        return "budget"

    def soft(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        return softplus(iterate.distribution.expected_edges - iterate.aim.max_edges).square()

    def discrete(self, proposals: Proposals) -> Tensor:
        """Return [B]."""
        return softplus(proposals.edges - proposals.aim.max_edges).square()

    def feasible(self, proposals: Proposals) -> Tensor:
        """Whether the graph keeps to the budget, [B]."""
        return proposals.edges <= proposals.aim.max_edges
