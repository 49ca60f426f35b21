"""What a dense kernel is, how it takes a layer's place, and the aggregations kernels share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from gnninterpreter.models.frozen import MODEL_LOCK, Temporary
from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.reductions import expected_first, expected_max
from gnninterpreter.relax.relaxation import active_relaxation

# Takes a layer, candidates, features of the nodes, and of the edges where the layer was given some.
Kernel = Callable[..., Tensor | None]
EDGES = ("edge_attr", "edge_type")

# A layer with hooks between its steps must take them; a kernel has no such steps.
_STEP_HOOKS = ("propagate", "message", "aggregate", "message_and_aggregate", "edge_update")

_STANDING: WeakKeyDictionary[nn.Module, int] = WeakKeyDictionary()


@contextmanager
def dense_forwards(model: nn.Module, kernels: Mapping[type, Kernel]) -> Iterator[list[str]]:
    """Let kernels stand in for the layers they know while the context lasts.

    Which kernel computes a call is up to the relaxation that is active then; without one the layer
    computes as ever. So contexts may overlap in any order, in one thread or several, and the last
    to end leaves the layers as the first found them.

    Yields:
        The names of the layers that have a kernel.
    """
    with MODEL_LOCK:
        known = {
            name: layer
            for name, layer in model.named_modules()
            if type(layer) in kernels and _may_stand_in(layer)
        }
        for layer in known.values():
            if layer not in _STANDING:
                layer.__dict__["forward"] = Temporary(_standing_in(layer, layer.forward))
            _STANDING[layer] = _STANDING.get(layer, 0) + 1
    try:
        yield list(known)
    finally:
        with MODEL_LOCK:
            for layer in known.values():
                _STANDING[layer] -= 1
                if not _STANDING[layer]:
                    del _STANDING[layer]
                    del layer.__dict__["forward"]


def _may_stand_in(layer: nn.Module) -> bool:
    """Whether a layer is as its class made it: no own forward, no hooks between its steps."""
    if "forward" in layer.__dict__ and layer not in _STANDING:
        return False
    hooks = (f"_{step}_forward_{when}" for step in _STEP_HOOKS for when in ("pre_hooks", "hooks"))
    return not any(layer.__dict__.get(name) for name in hooks)


def _standing_in(layer: nn.Module, original: Callable[..., Any]) -> Callable[..., Any]:
    names = list(signature(original).parameters)[2:]

    def forward(x: Any, edge_index: Any, *args: Any, **kwargs: Any) -> Any:
        relaxation = active_relaxation()
        kernel = None if relaxation is None else relaxation.kernels.get(type(layer))
        if relaxation is not None and kernel is not None and isinstance(x, Tensor):
            candidates = relaxation.candidates
            pairs = (*zip(names, args, strict=False), *kwargs.items())
            given = {name: value for name, value in pairs if value is not None}
            edges = [given.pop(name) for name in EDGES if name in given]
            # What else a layer may be given, such as weights of its own, no kernel knows.
            if not given and candidates.are_all_edges(edge_index):
                result = kernel(layer, candidates, x, *edges)
                if result is not None:
                    return result
        return original(x, edge_index, *args, **kwargs)

    return forward


def aggregation_name(layer: Any) -> str | None:
    """Return "add", "mean" or "max" where that is what the layer does, None for anything else."""
    if layer.flow != "source_to_target":
        return None
    return {"add": "add", "sum": "add", "mean": "mean", "max": "max"}.get(str(layer.aggr))


def neighbour_sum(candidates: Candidates, nodes: Tensor) -> Tensor:
    """Sum over the neighbours of each node, [B * N, F] to the same: one batched matrix product."""
    return torch.bmm(candidates.adjacency(), candidates.per_graph(nodes)).flatten(0, 1)


def aggregate(candidates: Candidates, nodes: Tensor, how: str) -> Tensor:
    """Aggregate the neighbours of each node."""
    if how == "add":
        return neighbour_sum(candidates, nodes)
    if how == "mean":
        return neighbour_sum(candidates, nodes) / in_degree(candidates).clamp_min(1)
    candidates.products_only = False
    # Every target has the same sources before it, so they are sorted once, not once for each.
    ordered, order = candidates.per_graph(nodes).transpose(1, 2).sort(dim=2, descending=True)
    size, width = candidates.size, nodes.size(1)
    weight = candidates.adjacency().unsqueeze(1).expand(-1, width, -1, -1)
    share = weight.gather(3, order.unsqueeze(2).expand(-1, -1, size, -1))  # [B, F, target, source]
    return expected_first(ordered.unsqueeze(2), share, dim=3).transpose(1, 2).flatten(0, 1)


def aggregate_messages(candidates: Candidates, messages: Tensor, how: str) -> Tensor:
    """Aggregate messages [B, N, N, F], target first, at their targets, to [B * N, F]."""
    candidates.products_only = False
    weight = candidates.adjacency().unsqueeze(-1)
    if how == "max":
        return expected_max(messages, weight, dim=2).flatten(0, 1)
    total = (messages * weight).sum(dim=2).flatten(0, 1)
    return total / in_degree(candidates).clamp_min(1) if how == "mean" else total


def received_by_feature(candidates: Candidates, edges: Tensor, nodes: Tensor) -> Tensor:
    """What each node receives by edge feature: sum_j a_ij e_ijk x_j, [B, N, K, F]."""
    carried = candidates.adjacency().unsqueeze(-1) * edges
    stacked = carried.permute(0, 1, 3, 2).flatten(1, 2)  # [B, N * K, N]
    received = torch.bmm(stacked, candidates.per_graph(nodes))
    return received.view(candidates.num_graphs, candidates.size, edges.size(-1), -1)


def in_degree(candidates: Candidates) -> Tensor:
    """Weighted number of incoming edges of each node, [B * N, 1]."""
    return candidates.remember("in_degree", lambda: candidates.adjacency().sum(dim=2).view(-1, 1))
