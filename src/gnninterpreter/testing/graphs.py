"""Random soft graphs to test with; discrete ones come from `gnninterpreter.graphs`."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Block, Categorical, GraphSpec


def random_soft_graphs(
    spec: GraphSpec,
    count: int,
    num_candidates: int,
    generator: torch.Generator,
    *,
    dtype: torch.dtype = torch.float32,
) -> DenseGraphs:
    """Draw graphs whose weights lie strictly between 0 and 1 and whose categories are mixtures.

    Args:
        spec: What to draw.
        count: How many graphs.
        num_candidates: Number of candidate nodes N.
        generator: Source of randomness.
        dtype: Floating-point type of weights and features.
    """
    n = num_candidates
    weight = 0.02 + 0.96 * torch.rand(count, n, n, generator=generator, dtype=dtype)
    weight = weight * (1 - torch.eye(n, dtype=dtype))
    nodes = _soft_features(spec.nodes, (count, n), generator, dtype)
    edges = None
    if spec.edges:
        edges = _soft_features(spec.edges, (count, n, n), generator, dtype)
    if not spec.directed:
        weight = weight.triu(1) + weight.triu(1).transpose(1, 2)
        if edges is not None:
            upper = torch.ones(n, n).triu(1).bool().view(1, n, n, 1)
            edges = torch.where(upper, edges, edges.transpose(1, 2))
    return DenseGraphs(spec, weight, nodes, edges)


def _soft_features(
    blocks: Sequence[Block], shape: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype
) -> Tensor:
    parts = []
    for block in blocks:
        if isinstance(block, Categorical):
            noise = torch.randn(*shape, block.size, generator=generator, dtype=dtype)
            parts.append((2 * noise).softmax(dim=-1))
        else:
            low, high = torch.tensor(block.low, dtype=dtype), torch.tensor(block.high, dtype=dtype)
            unit = torch.rand(*shape, block.dim, generator=generator, dtype=dtype)
            parts.append(low + (high - low) * unit)
    return torch.cat(parts, dim=-1)
