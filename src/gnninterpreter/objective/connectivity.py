"""Connectivity: edges that share a node should be alike (paper, Appendix A, equation 9)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from gnninterpreter.distribution.pairs import pair_places
from gnninterpreter.objective.base import Iterate, Term

# Probabilities are kept this far from 0 and 1, where the divergence has no bound.
SQUEEZE = 1e-4


@dataclass(frozen=True)
class Connectivity(Term):
    r"""The sum :math:`\sum_i \sum_{j,k \in N(i)} D_{KL}(P_{ij} \| P_{ik})` over edges at node i.

    Summed over all ordered pairs the terms :math:`\log(1 - \theta)` cancel, and what is left of the
    n edges at a node is :math:`n \sum_j \theta_j \omega_j - \sum_j \theta_j \sum_k \omega_k`:
    quadratic in N, where the double sum is cubic.

    Differs from the public code: that one counts only pairs with the same *first* endpoint, a third
    of them, and so depends on how nodes are numbered.
    """

    @property
    def name(self) -> str:
        """Name in histories and reports."""
        return "connectivity"

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
        count = at_node.size(1)
        per_node = count * (theta * omega).sum(-1) - theta.sum(-1) * omega.sum(-1)
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
