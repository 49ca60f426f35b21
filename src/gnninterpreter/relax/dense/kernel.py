"""What a dense kernel is, how it takes a layer's place, and the aggregations kernels share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.reductions import expected_max
from gnninterpreter.relax.relaxation import active_relaxation

__all__ = ["Kernel", "aggregate", "aggregation_name", "dense_forwards", "neighbour_sum"]

Kernel = Callable[..., Tensor | None]


@contextmanager
def dense_forwards(model: nn.Module, kernels: Mapping[type, Kernel]) -> Iterator[list[str]]:
    """Let kernels stand in for the layers they know while the context lasts.

    Yields:
        The names of the layers that have a kernel.
    """
    replaced: list[tuple[nn.Module, Any]] = []
    names: list[str] = []
    try:
        for name, layer in model.named_modules():
            kernel = kernels.get(type(layer))
            if kernel is not None:
                replaced.append((layer, layer.__dict__.get("forward")))
                layer.__dict__["forward"] = _standing_in(layer, layer.forward, kernel)
                names.append(name)
        yield names
    finally:
        for layer, own in replaced:
            if own is None:
                del layer.__dict__["forward"]
            else:
                layer.__dict__["forward"] = own


def _standing_in(
    layer: nn.Module, original: Callable[..., Any], kernel: Kernel
) -> Callable[..., Any]:
    def forward(x: Any, edge_index: Any, *args: Any, **kwargs: Any) -> Any:
        relaxation = active_relaxation()
        if relaxation is not None and isinstance(x, Tensor) and isinstance(edge_index, Tensor):
            candidates = relaxation.candidates
            if edge_index.data_ptr() == candidates.edge_index.data_ptr():
                result = kernel(layer, candidates, x, *args, **kwargs)
                if result is not None:
                    return result
        return original(x, edge_index, *args, **kwargs)

    return forward


def aggregation_name(layer: Any) -> str | None:
    """Return "add", "mean" or "max" where that is what the layer does, None for anything else."""
    if layer.flow != "source_to_target":
        return None
    name = {"add": "add", "sum": "add", "mean": "mean", "max": "max"}.get(str(layer.aggr))
    return name


def neighbour_sum(candidates: Candidates, nodes: Tensor) -> Tensor:
    """Sum over the neighbours of each node, [B * N, F] to [B * N, F]: one batched matrix product."""
    return torch.bmm(candidates.adjacency(), candidates.per_graph(nodes)).flatten(0, 1)


def aggregate(candidates: Candidates, nodes: Tensor, how: str) -> Tensor:
    """Aggregate the neighbours of each node."""
    if how == "add":
        return neighbour_sum(candidates, nodes)
    if how == "mean":
        return neighbour_sum(candidates, nodes) / in_degree(candidates).clamp_min(1)
    members = candidates.per_graph(nodes).unsqueeze(1).expand(-1, candidates.size, -1, -1)
    return expected_max(members, candidates.adjacency().unsqueeze(-1), dim=2).flatten(0, 1)


def aggregate_messages(candidates: Candidates, messages: Tensor, how: str) -> Tensor:
    """Aggregate messages [B, N, N-1, F] at their targets, to [B * N, F]."""
    weight = candidates.per_target(candidates.edge_weight).unsqueeze(-1)
    if how == "max":
        return expected_max(messages, weight, dim=2).flatten(0, 1)
    total = (messages * weight).sum(dim=2).flatten(0, 1)
    return total / in_degree(candidates).clamp_min(1) if how == "mean" else total


def in_degree(candidates: Candidates) -> Tensor:
    """Weighted number of incoming edges of each node, [B * N, 1]."""
    if "in_degree" not in candidates.cache:
        candidates.cache["in_degree"] = candidates.adjacency().sum(dim=2).view(-1, 1)
    return candidates.cache["in_degree"]
