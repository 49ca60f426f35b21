"""Dense kernels of the attention layers: a weighted softmax over each node's candidates."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.dense.kernel import aggregation_name, in_degree
from gnninterpreter.relax.reductions import below_all, log_weight


def gat(
    layer: Any, candidates: Candidates, x: Tensor, edge_attr: Tensor | None = None
) -> Tensor | None:
    """`GATConv`: attention from the sum of a source, a target and an edge score."""
    if not _plain(layer) or layer.lin is None:
        return None
    heads, width = layer.heads, layer.out_channels
    hidden = layer.lin(x).view(-1, heads, width)
    source_score = _heads_first(candidates, (hidden * layer.att_src).sum(-1))
    target_score = _heads_first(candidates, (hidden * layer.att_dst).sum(-1))
    scores = source_score.unsqueeze(2) + target_score.unsqueeze(3)  # [B, H, N, N]
    if edge_attr is not None:
        if layer.lin_edge is None:
            return None
        # The score of an edge is linear in its features: one matrix [H, D], not H * F rows.
        by_head = layer.lin_edge.weight.view(heads, width, -1)
        matrix = (by_head * layer.att_edge.view(heads, width, 1)).sum(dim=1)
        square = candidates.square(edge_attr)
        # Heads first, as the softmax reads them: from [B, N, N, H] every step would stride.
        edge_score = (matrix @ square.flatten(1, 2).mT).view_as(scores)
        if layer.add_self_loops:
            loops = _loop_features(layer, candidates, square)
            if loops is None:
                return None
            edge_score.diagonal(dim1=2, dim2=3).copy_(matrix @ loops.mT)
        scores += edge_score
    scores = nn.functional.leaky_relu(scores, layer.negative_slope)
    return _finish(layer, _attend(candidates, scores, layer.add_self_loops, hidden, None), x)


def gatv2(
    layer: Any, candidates: Candidates, x: Tensor, edge_attr: Tensor | None = None
) -> Tensor | None:
    """`GATv2Conv`: attention from a non-linear mix of source, target and edge."""
    if not _plain(layer):
        return None
    heads, width = layer.heads, layer.out_channels
    left = layer.lin_l(x).view(-1, heads, width)
    right = left if layer.share_weights else layer.lin_r(x).view(-1, heads, width)
    mixed = candidates.per_graph(left).unsqueeze(1) + candidates.per_graph(right).unsqueeze(2)
    if edge_attr is not None:
        if layer.lin_edge is None:
            return None
        edges = candidates.square(edge_attr)
        if layer.add_self_loops:
            loops = _loop_features(layer, candidates, edges)
            if loops is None:
                return None
            diagonal = torch.eye(candidates.size, dtype=torch.bool, device=edges.device)
            edges = torch.where(diagonal.view(*diagonal.shape, 1), loops.unsqueeze(2), edges)
        mixed = mixed + layer.lin_edge(edges).unflatten(-1, (heads, width))
    scores = (nn.functional.leaky_relu(mixed, layer.negative_slope) * layer.att).sum(-1)
    scores = scores.permute(0, 3, 1, 2)
    return _finish(layer, _attend(candidates, scores, layer.add_self_loops, left, None), x)


def transformer(
    layer: Any, candidates: Candidates, x: Tensor, edge_attr: Tensor | None = None
) -> Tensor | None:
    """`TransformerConv`: scaled dot-product attention, edge features added to keys and values."""
    if not _plain(layer):
        return None
    heads, width = layer.heads, layer.out_channels
    query = candidates.per_graph(layer.lin_query(x).view(-1, heads, width))
    key = layer.lin_key(x).view(-1, heads, width)
    value = layer.lin_value(x).view(-1, heads, width)
    keys = candidates.per_graph(key)
    scores = torch.einsum("bihf,bjhf->bhij", query, keys)
    edges = None
    if layer.lin_edge is not None:
        if edge_attr is None:
            return None
        edges = layer.lin_edge(candidates.square(edge_attr)).unflatten(-1, (heads, width))
        scores = scores + torch.einsum("bihf,bijhf->bhij", query, edges)
    out = _attend(candidates, scores / math.sqrt(width), False, value, edges)
    out = out.flatten(1) if layer.concat else out.mean(dim=1)
    if layer.root_weight:
        skip: Tensor = layer.lin_skip(x)
        if layer.lin_beta is not None:
            beta: Tensor = layer.lin_beta(torch.cat([out, skip, out - skip], dim=-1)).sigmoid()
            return beta * skip + (1 - beta) * out
        out = out + skip
    return out


def _attend(
    candidates: Candidates, scores: Tensor, loops: bool, values: Tensor, edges: Tensor | None
) -> Tensor:
    """Weighted softmax over sources (and the node itself), then the weighted sum of values.

    Scores, [B, H, N, N], target before source, are overwritten; the diagonal is that of a
    self-loop. Values are those of the sources, [B * N, H, F], as is the result; ``edges``, [B, N,
    N, H, F], are added to them.
    """
    candidates.products_only = False
    logs = candidates.remember(("log weights", loops), lambda: _log_weights(candidates, loops))
    attention = scores.add_(logs.unsqueeze(1)).softmax(dim=3)
    if not loops:
        # A node with no neighbours at all spreads its attention over absent ones; this removes it.
        attached = candidates.adjacency().gt(0).any(dim=2)
        attention = attention * attached.unsqueeze(1).unsqueeze(3)
    out = attention @ candidates.per_graph(values).transpose(1, 2)  # [B, H, N, F]
    out = out.transpose(1, 2)
    if edges is not None:
        out = out + torch.einsum("bhij,bijhf->bihf", attention, edges)
    return out.flatten(0, 1)


def _log_weights(candidates: Candidates, loops: bool) -> Tensor:
    """Logarithms of the edge weights, [B, N, N]; that of 0 swallows any score it is added to."""
    weight = candidates.adjacency(loops)
    return torch.where(weight > 0, log_weight(weight), below_all(weight.dtype))


def _heads_first(candidates: Candidates, scores: Tensor) -> Tensor:
    """Scores of nodes [B * N, H] as [B, H, N], so laid out: what is made of them is so, too."""
    return candidates.per_graph(scores).transpose(1, 2).contiguous()


def _plain(layer: Any) -> bool:
    return aggregation_name(layer) == "add" and not (layer.training and layer.dropout > 0)


def _loop_features(layer: Any, candidates: Candidates, square: Tensor) -> Tensor | None:
    """Features of self-loops, [B, N, D]: mean of incoming edges, a number, or None for others."""
    if layer.fill_value == "mean":

        def mean() -> Tensor:
            # Not as a product of matrices: its slope would be made of products with one column.
            total = (candidates.adjacency().unsqueeze(3) * square).sum(dim=2)
            return total / candidates.per_graph(in_degree(candidates)).clamp_min(1)

        # Layers that are given the graphs' own features, as is usual, share it.
        own = square is candidates.graphs.edges
        return candidates.remember("loop features", mean) if own else mean()
    if isinstance(layer.fill_value, (int, float)):
        return square.new_full(square.shape[:2] + square.shape[3:], float(layer.fill_value))
    return None


def _finish(layer: Any, out: Tensor, x: Tensor) -> Tensor:
    out = out.flatten(1) if layer.concat else out.mean(dim=1)
    if getattr(layer, "res", None) is not None:
        out = out + layer.res(x)
    return out if layer.bias is None else out + layer.bias
