"""The smallest graph classifier around given layers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch
from torch_geometric.nn import MultiAggregation


class TinyClassifier(nn.Module):
    """Convolutions, a readout and one linear layer: ``forward(data)`` gives logits [B, C].

    Args:
        convs: One convolution or several, run in turn with an activation after each.
        width: Number of columns the last convolution returns.
        num_classes: Number of classes C.
        edge: Keyword under which each convolution takes the edge features: ``"edge_attr"`` as they
            are, ``"edge_weight"`` as one number, ``"edge_type"`` as one integer; None for none.
        norm: Normalisation after the convolutions, called with the batch vector where it takes one.
        pool: Readout, called as ``pool(x, batch)``; sum, mean and maximum side by side when
            omitted.
        pooled: Number of columns the readout returns; ``width`` where a pool is given.
        embed: Turns ``data.x`` into node features first; an `torch.nn.Embedding`, say.
        activation: Applied after each convolution.

    Example:
        >>> from torch_geometric.nn import GATConv
        >>> model = TinyClassifier([GATConv(3, 8, edge_dim=2), GATConv(8, 8, edge_dim=2)], 8,
        ...                        edge="edge_attr")
        >>> model.head.out_features
        3
    """

    def __init__(
        self,
        convs: nn.Module | Sequence[nn.Module],
        width: int,
        *,
        num_classes: int = 3,
        edge: str | None = None,
        norm: nn.Module | None = None,
        pool: Callable[[Tensor, Tensor], Tensor] | None = None,
        pooled: int | None = None,
        embed: nn.Module | None = None,
        activation: Callable[[Tensor], Tensor] = torch.tanh,
    ) -> None:
        """Put the parts together."""
        super().__init__()
        self.embed = embed
        self.convs = nn.ModuleList([convs] if isinstance(convs, nn.Module) else convs)
        self.norm = norm
        self.pool = MultiAggregation(["sum", "mean", "max"]) if pool is None else pool
        self.edge = edge
        self.activation = activation
        readout = 3 * width if pool is None else width
        self.head = nn.Linear(readout if pooled is None else pooled, num_classes)

    def forward(self, data: Batch) -> Tensor:
        """Return the logits of a batch of graphs."""
        x = data.x if self.embed is None else self.embed(data.x)
        if x.dim() == 3:  # an embedding of [n, 1] codes
            x = x.squeeze(1)
        edge = self._edge_argument(data)
        for conv in self.convs:
            x = self.activation(conv(x, data.edge_index, **edge))
        if self.norm is not None:
            x = self.norm(x, data.batch) if _takes_batch(self.norm) else self.norm(x)
        logits: Tensor = self.head(self.pool(x, data.batch))
        return logits

    def _edge_argument(self, data: Batch) -> dict[str, Any]:
        if self.edge is None:
            return {}
        if self.edge == "edge_weight":
            return {"edge_weight": data.edge_attr.view(-1)}
        return {self.edge: data[self.edge]}


def _takes_batch(norm: nn.Module) -> bool:
    return "batch" in inspect.signature(norm.forward).parameters
