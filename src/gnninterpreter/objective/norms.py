"""L1 and L2 regularisation of the edge latents (paper, Appendix A, equation 7)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.errors import SpecError
from gnninterpreter.objective.base import Iterate, Term


@dataclass(frozen=True)
class LatentNorm(Term):
    r"""The norm :math:`\|\Omega\|_k`, which keeps the sigmoid of the edge latents from saturating.

    The main text of the paper speaks of all latent parameters, its Appendix A of Omega; this
    follows the appendix, which has the formula. The L2 norm is the norm itself, not its square.
    """

    order: int

    def __post_init__(self) -> None:
        """Check the order."""
        if self.order not in (1, 2):
            raise SpecError(f"order must be 1 or 2 (got {self.order})")

    @property
    def name(self) -> str:
        """Name in histories and reports."""
        return f"L{self.order}"

    def soft(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        omega = iterate.distribution.edge_logits
        norm: Tensor = torch.linalg.vector_norm(omega, self.order, dim=1)
        return norm
