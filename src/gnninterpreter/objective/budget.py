"""The budget: explanations no larger than they need to be (paper, Appendix A, equation 8)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import softplus

from gnninterpreter.objective.base import Iterate

__all__ = ["Budget", "RelativeBudget"]


@dataclass(frozen=True)
class Budget:
    r"""The penalty :math:`\mathrm{softplus}(\|\sigma(\Omega)\|_1 - B)^2`."""

    name: str = "budget"
    per_sample: bool = False

    def __call__(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        return softplus(iterate.distribution.expected_edges - iterate.goal.max_edges).square()


@dataclass(frozen=True)
class RelativeBudget:
    r"""The share by which the expected number of edges exceeds a part of the limit.

    Differs from the paper: its penalty is a count squared, so that one weight cannot fit graphs of
    ten and of seventy edges. Here :math:`\max(0, \|\sigma(\Omega)\|_1 / (\rho B) - 1)`.

    Args:
        part: The part rho of the limit that is aimed at.
    """

    part: float = 1.0
    name: str = "relative budget"
    per_sample: bool = False

    def __call__(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        limit = self.part * iterate.goal.max_edges
        return (iterate.distribution.expected_edges / limit - 1).clamp_min(0)
