"""The kernel of relation layers, whose edges have an integer type each."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.dense.kernel import aggregation_name, received_by_feature


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
