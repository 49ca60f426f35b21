"""Candidate edges: how pairs of nodes are numbered."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

__all__ = ["pair_ends", "pair_places"]


@lru_cache(maxsize=64)
def pair_ends(size: int, directed: bool, device: torch.device) -> tuple[Tensor, Tensor]:
    """Target and source of each candidate edge; an undirected one has the smaller first."""
    keep = ~torch.eye(size, dtype=torch.bool, device=device)
    row, column = (keep if directed else keep.triu(1)).nonzero(as_tuple=True)
    return row, column


@lru_cache(maxsize=64)
def pair_places(size: int, directed: bool, device: torch.device) -> Tensor:
    """Place of each pair (target, source) among the candidate edges; the diagonal's is the end."""
    row, column = pair_ends(size, directed, device)
    total = row.numel()
    places = torch.full((size, size), total, dtype=torch.long, device=device)
    places[row, column] = torch.arange(total, device=device)
    if not directed:
        places[column, row] = torch.arange(total, device=device)
    return places
