"""Regularisers of the distribution: the paper's three (Appendix A), and the entropy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import softplus

from gnninterpreter.distribution.pairs import pair_places
from gnninterpreter.errors import SpecError
from gnninterpreter.objective.base import Iterate, Proposals, Term

# Probabilities are kept this far from 0 and 1, where the divergence has no bound.
SQUEEZE = 1e-4


@dataclass(frozen=True)
class LatentNorm(Term):
    r"""The norm :math:`\|\Omega\|_k`, which keeps the sigmoid of the edge latents from saturating.

    The main text of the paper speaks of all latent parameters, its Appendix A (equation 7) of
    Omega; this follows the appendix. The L2 norm is the norm itself, not its square.
    """

    order: int

    def __post_init__(self) -> None:
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


@dataclass(frozen=True)
class Budget(Term):
    r"""No larger than need be: :math:`\mathrm{softplus}(\|\sigma(\Omega)\|_1 - B)^2` (equation 8).

    Of discrete graphs the edges are counted.
    """

    name: ClassVar[str] = "budget"

    def soft(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        return softplus(iterate.distribution.expected_edges - iterate.aim.max_edges).square()

    def discrete(self, proposals: Proposals) -> Tensor:
        """Return [B]."""
        return softplus(proposals.edges - proposals.aim.max_edges).square()

    def feasible(self, proposals: Proposals) -> Tensor:
        """Whether the graph keeps to the budget, [B]."""
        return proposals.edges <= proposals.aim.max_edges


@dataclass(frozen=True)
class Connectivity(Term):
    r"""Edges that share a node should be alike (equation 9).

    The sum :math:`\sum_i \sum_{j,k \in N(i)} D_{KL}(P_{ij} \| P_{ik})` over edges at node i. Over
    all ordered pairs the terms :math:`\log(1 - \theta)` cancel, and what is left of the
    n edges at a node is :math:`n \sum_j \theta_j \omega_j - \sum_j \theta_j \sum_k \omega_k`:
    quadratic in N, where the double sum is cubic.

    Differs from the public code: that one counts only pairs with the same *first* endpoint, a third
    of them, and so depends on how nodes are numbered.
    """

    name: ClassVar[str] = "connectivity"

    def soft(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        distribution = iterate.distribution
        bound = math.log((1 - SQUEEZE) / SQUEEZE)
        logits = distribution.edge_logits.clamp(-bound, bound)
        at_node = incident_edges(
            distribution.num_candidates, distribution.spec.directed, logits.device
        )
        omega = logits[:, at_node]  # [R, N, n]
        theta = omega.sigmoid()
        per_node = at_node.size(1) * (theta * omega).sum(-1) - theta.sum(-1) * omega.sum(-1)
        return per_node.sum(dim=1)


@lru_cache(maxsize=64)
def incident_edges(size: int, directed: bool, device: torch.device) -> Tensor:
    """The candidate edges at each node, at either end, [N, n]."""
    places = pair_places(size, directed, device)
    off = ~torch.eye(size, dtype=torch.bool, device=device)
    incoming = places[off].view(size, size - 1)
    if not directed:
        return incoming
    outgoing = places.t()[off].view(size, size - 1)
    return torch.cat([incoming, outgoing], dim=1)


@dataclass(frozen=True)
class Entropy(Term):
    """The entropy of the distribution in bits, for each edge of the limit.

    Not in the paper, which leaves distributions open and so lets samples differ from the mode. A
    pressure that rises late in the search closes what certainty has not decided by then.
    """

    name: ClassVar[str] = "entropy"

    def soft(self, iterate: Iterate) -> Tensor:
        """Return [R]."""
        return iterate.distribution.entropy() / iterate.aim.max_edges
