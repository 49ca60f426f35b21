"""Short cycles: for every edge the smallest cycle that it lies on, and how many there are.

Take walks between the ends of an edge and leave out those that use the edge itself: the shortest
that is left closes the smallest cycle. With the generating functions g of walks in the whole
graph, what is left begins with the same power, and the same coefficient, as
:math:`g_{ij} - z (g_{ii} g_{jj} - g_{ij}^2)`, so that no edge has to be taken out.
"""

from __future__ import annotations

import torch
from torch import Tensor

LARGEST = 8
# Whole numbers up to here are exact in single precision.
EXACT = 2**24


def smallest_cycles(edge: Tensor) -> tuple[Tensor, Tensor]:
    """Size of the smallest cycle through each edge of [B, N, N], and how many there are.

    Undirected graphs without loops; 0 for what is no edge, or on no cycle of at most `LARGEST`
    nodes.
    """
    # Counts have to be exact, for they cancel each other; walks are as many as degrees allow.
    most = edge.size(1) - 1
    if edge.device.type == "cpu" and edge.numel():
        most = int(edge.sum(2).max())
    small = most ** (LARGEST - 2) < EXACT
    step = edge.to(torch.float32 if small else torch.float64)
    powers = [torch.eye(edge.size(1), dtype=step.dtype, device=edge.device).expand_as(step), step]
    for _ in range(2, LARGEST):
        powers.append(powers[-1] @ step)
    back = torch.stack([power.diagonal(dim1=1, dim2=2) for power in powers], dim=2)
    size, count = torch.zeros_like(step), torch.zeros_like(step)
    # The largest first: smaller ones take their place.
    for length in range(LARGEST - 1, 1, -1):
        some = back[..., :length]
        left = torch.baddbmm(powers[length], some, some.flip(2).mT, alpha=-1)
        for first in range(1, (length - 1) // 2 + 1):
            twice = 2 if 2 * first < length - 1 else 1
            left.addcmul_(powers[first], powers[length - 1 - first], value=twice)
        found = left > 0.5
        size.masked_fill_(found, length + 1)
        count = torch.where(found, left, count)
    return size * step, count * step
