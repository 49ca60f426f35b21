"""Dense kernels of the attention layers: a weighted softmax over each node's candidates."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.dense.kernel import aggregation_name, in_degree
from gnninterpreter.relax.reductions import log_weight

__all__ = ["gat", "gatv2", "transformer"]


def gat(
    layer: Any,
    candidates: Candidates,
    x: Tensor,
    edge_attr: Tensor | None = None,
    size: Any = None,
    return_attention_weights: Any = None,
) -> Tensor | None:
    """`GATConv`: attention from the sum of a source, a target and an edge score."""
    if size is not None or return_attention_weights is not None or not _plain(layer):
        return None
    if layer.lin is None:
        return None
    heads, width = layer.heads, layer.out_channels
    hidden = layer.lin(x).view(-1, heads, width)
    source_score = (hidden * layer.att_src).sum(-1)
    target_score = (hidden * layer.att_dst).sum(-1)
    scores = candidates.from_sources(source_score) + candidates.per_graph(target_score).unsqueeze(2)
    loop_scores = candidates.per_graph(source_score + target_score)
    if edge_attr is not None:
        if layer.lin_edge is None:
            return None

        def edge_score(values: Tensor) -> Tensor:
            spread: Tensor = layer.lin_edge(values).view(-1, heads, width) * layer.att_edge
            return spread.sum(-1)

        attr = _columns(edge_attr)
        scores = scores + candidates.per_target(edge_score(attr))
        loops = _loop_features(layer, candidates, attr) if layer.add_self_loops else None
        if layer.add_self_loops:
            if loops is None:
                return None
            loop_scores = loop_scores + candidates.per_graph(edge_score(loops))
    slope = layer.negative_slope
    scores = nn.functional.leaky_relu(scores, slope)
    loop_scores = nn.functional.leaky_relu(loop_scores, slope)
    out = _attend(candidates, scores, loop_scores if layer.add_self_loops else None, hidden, None)
    return _finish(layer, out, x)


def gatv2(
    layer: Any,
    candidates: Candidates,
    x: Tensor,
    edge_attr: Tensor | None = None,
    return_attention_weights: Any = None,
) -> Tensor | None:
    """`GATv2Conv`: attention from a non-linear mix of source, target and edge."""
    if return_attention_weights is not None or not _plain(layer):
        return None
    heads, width = layer.heads, layer.out_channels
    left = layer.lin_l(x).view(-1, heads, width)
    right = left if layer.share_weights else layer.lin_r(x).view(-1, heads, width)
    mixed = candidates.from_sources(left) + candidates.per_graph(right).unsqueeze(2)
    loops = left + right
    if edge_attr is not None:
        if layer.lin_edge is None:
            return None
        attr = _columns(edge_attr)
        mixed = mixed + candidates.per_target(layer.lin_edge(attr).view(-1, heads, width))
        if layer.add_self_loops:
            features = _loop_features(layer, candidates, attr)
            if features is None:
                return None
            loops = loops + layer.lin_edge(features).view(-1, heads, width)

    def score(values: Tensor) -> Tensor:
        weighed: Tensor = nn.functional.leaky_relu(values, layer.negative_slope) * layer.att
        return weighed.sum(-1)

    loop_scores = candidates.per_graph(score(loops)) if layer.add_self_loops else None
    out = _attend(candidates, score(mixed), loop_scores, left, None)
    return _finish(layer, out, x)


def transformer(
    layer: Any,
    candidates: Candidates,
    x: Tensor,
    edge_attr: Tensor | None = None,
    return_attention_weights: Any = None,
) -> Tensor | None:
    """`TransformerConv`: scaled dot-product attention, edge features added to keys and values."""
    if return_attention_weights is not None or not _plain(layer):
        return None
    heads, width = layer.heads, layer.out_channels
    query = candidates.per_graph(layer.lin_query(x).view(-1, heads, width))
    key = layer.lin_key(x).view(-1, heads, width)
    value = layer.lin_value(x).view(-1, heads, width)
    edges = None
    if layer.lin_edge is not None:
        if edge_attr is None:
            return None
        edges = candidates.per_target(layer.lin_edge(edge_attr).view(-1, heads, width))
    keys = candidates.from_sources(key)
    keys = keys if edges is None else keys + edges
    scores = (query.unsqueeze(2) * keys).sum(-1) / math.sqrt(width)
    out = _attend(candidates, scores, None, value, edges)
    out = out.flatten(1) if layer.concat else out.mean(dim=1)
    if layer.root_weight:
        skip: Tensor = layer.lin_skip(x)
        if layer.lin_beta is not None:
            beta: Tensor = layer.lin_beta(torch.cat([out, skip, out - skip], dim=-1)).sigmoid()
            return beta * skip + (1 - beta) * out
        out = out + skip
    return out


def _attend(
    candidates: Candidates,
    scores: Tensor,
    loop_scores: Tensor | None,
    values: Tensor,
    edges: Tensor | None,
) -> Tensor:
    """Weighted softmax over sources (and the node itself), then the weighted sum of values.

    Args:
        candidates: The soft graphs.
        scores: [B, N, N-1, H].
        loop_scores: [B, N, H] where the layer adds self-loops.
        values: [B * N, H, F], the values of the sources.
        edges: [B, N, N-1, H, F] added to the values, or None.

    Returns:
        [B * N, H, F].
    """
    weight = candidates.per_target(candidates.edge_weight).unsqueeze(-1)
    shifted = scores + log_weight(weight)
    if loop_scores is not None:
        shifted = torch.cat([shifted, loop_scores.unsqueeze(2)], dim=2)
    # A node with no neighbours at all spreads its attention over absent ones; the factor below
    # removes that.
    attention = shifted.softmax(dim=2)
    sources = attention[:, :, : candidates.size - 1] * (weight > 0)
    messages = candidates.from_sources(values)
    messages = messages if edges is None else messages + edges
    out = (sources.unsqueeze(-1) * messages).sum(dim=2)
    if loop_scores is not None:
        out = out + attention[:, :, -1].unsqueeze(-1) * candidates.per_graph(values)
    return out.flatten(0, 1)


def _plain(layer: Any) -> bool:
    return aggregation_name(layer) == "add" and not (layer.training and layer.dropout > 0)


def _columns(edge_attr: Tensor) -> Tensor:
    return edge_attr.view(-1, 1) if edge_attr.dim() == 1 else edge_attr


def _loop_features(layer: Any, candidates: Candidates, edge_attr: Tensor) -> Tensor | None:
    """Features of the self-loops: the mean over each node's incoming edges, PyG's default."""
    if layer.fill_value == "mean":
        weight = candidates.per_target(candidates.edge_weight).unsqueeze(-1)
        total = (candidates.per_target(edge_attr) * weight).sum(dim=2).flatten(0, 1)
        return total / in_degree(candidates).clamp_min(1)
    if isinstance(layer.fill_value, (int, float)):
        shape = (candidates.num_nodes, edge_attr.size(1))
        return edge_attr.new_full(shape, float(layer.fill_value))
    return None


def _finish(layer: Any, out: Tensor, x: Tensor) -> Tensor:
    out = out.flatten(1) if layer.concat else out.mean(dim=1)
    if getattr(layer, "res", None) is not None:
        out = out + layer.res(x)
    return out if layer.bias is None else out + layer.bias
