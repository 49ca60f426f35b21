"""Dense kernels of the layers that sum, average or maximise over neighbours, also by relation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import Linear as PyGLinear

from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.dense.kernel import (
    aggregate,
    aggregate_messages,
    aggregation_name,
    in_degree,
    neighbour_sum,
    received_by_feature,
)
from gnninterpreter.relax.reductions import power


def gcn(layer: Any, candidates: Candidates, x: Tensor) -> Tensor | None:
    """`GCNConv`: D^-1/2 (A + I) D^-1/2 X W, with the degrees of the soft graph."""
    if aggregation_name(layer) != "add":
        return None
    # `improved` only sets the weight of self-loops where edges come with weights of their own.
    loops = layer.add_self_loops and layer.normalize
    matrix = _propagation(candidates, loops) if layer.normalize else candidates.adjacency()
    # Neighbours first, then the weights: the first layer's features are few.
    received = torch.bmm(matrix, candidates.per_graph(x)).flatten(0, 1)
    return nn.functional.linear(received, layer.lin.weight, layer.bias)


def _propagation(candidates: Candidates, loops: bool) -> Tensor:
    """D^-1/2 (A + I) D^-1/2 of each graph, [B, N, N]; the same for every layer of the model."""

    def normalised() -> Tensor:
        matrix = candidates.adjacency(loops)
        degree = matrix.sum(dim=2)
        root = power(degree.clamp_min(torch.finfo(degree.dtype).tiny), -0.5)
        root = torch.where(degree > 0, root, torch.zeros_like(root))
        return root.unsqueeze(2) * matrix * root.unsqueeze(1)

    return candidates.remember(("propagation", loops), normalised)


def graph_conv(layer: Any, candidates: Candidates, x: Tensor) -> Tensor | None:
    """`GraphConv`: W1 x_i + W2 aggr_j x_j."""
    how = aggregation_name(layer)
    if how is None:
        return None
    out: Tensor = layer.lin_rel(aggregate(candidates, x, how)) + layer.lin_root(x)
    return out


def sage(layer: Any, candidates: Candidates, x: Tensor) -> Tensor | None:
    """`SAGEConv` with mean, maximum or sum."""
    how = aggregation_name(layer)
    if how is None:
        return None
    neighbours = layer.lin(x).relu() if getattr(layer, "project", False) else x
    out: Tensor = layer.lin_l(aggregate(candidates, neighbours, how))
    if layer.root_weight:
        out = out + layer.lin_r(x)
    return nn.functional.normalize(out, p=2.0, dim=-1) if layer.normalize else out


def gin(layer: Any, candidates: Candidates, x: Tensor) -> Tensor | None:
    """`GINConv`: nn((1 + eps) x_i + sum_j x_j)."""
    how = aggregation_name(layer)
    if how is None:
        return None
    out: Tensor = layer.nn(aggregate(candidates, x, how) + (1 + layer.eps) * x)
    return out


def gine(
    layer: Any, candidates: Candidates, x: Tensor, edge_attr: Tensor | None = None
) -> Tensor | None:
    """`GINEConv`: nn((1 + eps) x_i + sum_j relu(x_j + W e_ij))."""
    how = aggregation_name(layer)
    if edge_attr is None or how is None:
        return None
    edges = edge_attr if layer.lin is None else layer.lin(edge_attr)
    sources = candidates.per_graph(x).unsqueeze(1)
    messages = (sources + candidates.square(edges)).relu()
    out: Tensor = layer.nn(aggregate_messages(candidates, messages, how) + (1 + layer.eps) * x)
    return out


def nn_conv(
    layer: Any, candidates: Candidates, x: Tensor, edge_attr: Tensor | None = None
) -> Tensor | None:
    """`NNConv` whose edge network is one linear layer.

    Then the matrix of an edge is linear in its features, and the sum over neighbours is one product
    with the weighted adjacency for each feature: sum_k (A * E_k) X W_k. Other edge networks and
    aggregations take the generic path.
    """
    how = aggregation_name(layer)
    network = _single_linear(layer.nn)
    if edge_attr is None or network is None or how not in ("add", "mean"):
        return None
    c_in, c_out = layer.in_channels, layer.out_channels
    received = received_by_feature(candidates, candidates.square(edge_attr), x)  # [B, N, K, in]
    weights = network.weight.t().reshape(-1, c_out)
    out = (received.flatten(2) @ weights).flatten(0, 1)
    if network.bias is not None:
        out = out + neighbour_sum(candidates, x) @ network.bias.view(c_in, c_out)
    if how == "mean":
        out = out / in_degree(candidates).clamp_min(1)
    if layer.root_weight:
        out = out + layer.lin(x)
    return out if layer.bias is None else out + layer.bias


def relational(
    layer: Any, candidates: Candidates, x: Tensor, edge_type: Tensor | None = None
) -> Tensor | None:
    """`RGCNConv`: for each relation the aggregate of its neighbours, times that relation's matrix.

    An edge belongs to relation r with its weight times its soft type, so that types are learned as
    edges are. Types that did not come from the graph's own features are taken as they stand.
    """
    how = aggregation_name(layer)
    if edge_type is None or how not in ("add", "mean") or not x.is_floating_point():
        return None
    soft = candidates.soft_codes(edge_type)
    if soft is None:
        soft = torch.nn.functional.one_hot(edge_type, layer.num_relations).to(x.dtype)
    weight = layer.weight
    if layer.num_bases is not None:
        weight = (layer.comp @ weight.view(layer.num_bases, -1)).view(
            layer.num_relations, layer.in_channels_l, layer.out_channels
        )
    types = candidates.square(soft)
    received = received_by_feature(candidates, types, x)  # [B, N, R, in]
    if how == "mean":
        count = (candidates.adjacency().unsqueeze(-1) * types).sum(dim=2)
        received = received / count.clamp_min(1).unsqueeze(-1)
    received = received.flatten(0, 1)
    relations = received.size(1)
    if layer.num_blocks is not None:
        blocks = received.view(-1, relations, layer.num_blocks, weight.size(2))
        out = torch.einsum("nrbi,rbio->nbo", blocks, weight[:relations]).flatten(1)
    else:
        out = received.flatten(1) @ weight[:relations].reshape(-1, weight.size(2))
    if layer.root is not None:
        out = out + x @ layer.root
    return out if layer.bias is None else out + layer.bias


def _single_linear(network: nn.Module) -> nn.Linear | PyGLinear | None:
    layers = [m for m in network.modules() if not isinstance(m, nn.Sequential)]
    if len(layers) == 1 and isinstance(layers[0], (nn.Linear, PyGLinear)):
        return layers[0]
    return None
