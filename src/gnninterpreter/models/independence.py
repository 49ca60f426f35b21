"""Whether a graph gets the same scores alone and beside others: whether a model may be batched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Batch

if TYPE_CHECKING:
    from gnninterpreter.models.classifier import GraphClassifier

# Difference between scores that is more than rounding, as a share of the largest.
DIFFERENT = 1e-3
# Other orders of nodes and edges in which graphs are shown to a model, and how much more than with
# these scores may change with what else is in the batch.
ORDERS, ROOM = 3, 1.5
EDGE_FIELDS = ("edge_attr", "edge_type", "edge_weight")


def independent(model: GraphClassifier, batch: Batch, logits: Tensor) -> bool:
    """Whether a graph's scores are the same alone and in a batch."""
    if not model.convention.takes_batch:
        return False
    if batch.num_graphs < 2:
        return True
    single = _alone(model, batch, int(batch.num_graphs) - 1)
    return not differ(single, logits[-1], logits)


def differ(one: Tensor, other: Tensor, among: Tensor | None = None) -> bool:
    """Whether scores differ by more than rounding does, for the largest ``among`` them."""
    scale = (other if among is None else among).abs().max().clamp_min(1.0)
    return not bool((one - other).abs().max() / scale < DIFFERENT)


def undecided(model: GraphClassifier, batch: Batch, logits: Tensor) -> bool:
    """Whether a graph's scores change with the order of its parts as much as with its batch.

    Models that choose nodes or edges leave it to rounding which of two that are alike comes first.
    """
    if not model.convention.takes_batch:
        return False
    generator = torch.Generator().manual_seed(0)
    batched, order = [], []
    for number in range(int(batch.num_graphs)):
        single = _alone(model, batch, number)
        try:
            others = [_alone(model, batch, number, generator) for _ in range(ORDERS)]
        except Exception:  # some layers take edges in one order alone
            return False
        batched.append((single - logits[number]).abs().max())
        order.append(torch.stack(others).sub(single).abs().max())
    found, usual = torch.stack(batched), ROOM * torch.stack(order)
    return bool((found.max() <= usual.max()) & (found.mean() <= usual.mean()))


def _alone(
    model: GraphClassifier, batch: Batch, number: int, shuffled: torch.Generator | None = None
) -> Tensor:
    """Logits of one graph of a batch by itself, [C], with nodes and edges in any order."""

    def places(mask: Tensor) -> Tensor:
        found = mask.nonzero().squeeze(1)
        if shuffled is None:
            return found
        return found[torch.randperm(len(found), generator=shuffled).to(found.device)]

    mine = places(batch.batch == number)
    place = torch.full_like(batch.batch, -1)
    place[mine] = torch.arange(len(mine), device=mine.device)
    edges = places(place[batch.edge_index[1]] >= 0)
    alone = Batch(x=batch.x[mine], edge_index=place[batch.edge_index[:, edges]])
    rows = dict.fromkeys(("pos", *(block.name for block in model.spec.attributes)), mine)
    for key, kept in (rows | dict.fromkeys(EDGE_FIELDS, edges)).items():
        if batch.get(key) is not None:
            alone[key] = batch[key][kept]
    alone.batch = torch.zeros_like(mine)
    alone.ptr = torch.tensor([0, len(mine)], device=mine.device)
    alone._num_graphs = 1
    return model.reader(model._raw(alone).to(model.dtype))[0]
