"""Candidate edges: how pairs of nodes are numbered."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

# Numbers of a table that is remembered.
MOST_REMEMBERED = 2**20


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


def draw_places(
    size: int, directed: bool | None, samples: int, width: int, device: torch.device
) -> Tensor:
    """Which numbers of a stream are drawn for what, [samples, members, width].

    The same node (``directed`` is None) or pair gets the same ones on fewer candidate nodes and on
    more, so that a distribution can be drawn from on as few as it needs.
    """
    members = size if directed is None else size**2
    # A hundred tables of large graphs would fill gigabytes.
    large = device.type == "cpu" and samples * members * width > MOST_REMEMBERED
    return (_places.__wrapped__ if large else _places)(size, directed, samples, width, device)


@lru_cache(maxsize=128)
def _places(
    size: int, directed: bool | None, samples: int, width: int, device: torch.device
) -> Tensor:
    if directed is None:
        rank = torch.arange(size, device=device)
    else:
        row, column = pair_ends(size, directed, device)
        low, high = torch.minimum(row, column), torch.maximum(row, column)
        rank = high * (high - 1) // 2 + low
        if directed:
            rank = 2 * rank + (row > column)
    sample = torch.arange(samples, device=device).view(-1, 1, 1)
    return (rank.view(1, -1, 1) * samples + sample) * width + torch.arange(width, device=device)
