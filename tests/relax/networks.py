"""Networks around the layers that need more than a row of convolutions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch
from torch_geometric.utils import degree, scatter, softmax

IN, HIDDEN, EDGE, RELATIONS = 5, 6, 3, 3


def mlp(width_in: int, width_out: int, hidden: int = HIDDEN) -> nn.Module:
    return nn.Sequential(nn.Linear(width_in, hidden), nn.ReLU(), nn.Linear(hidden, width_out))


class KeepsInitial(nn.Module):
    """Convolutions that mix in their first input; all of one width."""

    def __init__(self, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.first = nn.Linear(IN, HIDDEN)
        self.convs = nn.ModuleList([make(), make()])
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = start = self.first(x).relu()
        for conv in self.convs:
            x = conv(x, start, edge_index).relu()
        return self.head(gnn.global_mean_pool(x, batch))


class WholeModel(nn.Module):
    """One of `torch_geometric.nn.models` with a readout."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(HIDDEN, 3)

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_attr: Tensor | None = None
    ) -> Tensor:
        edge = {} if edge_attr is None else {"edge_attr": edge_attr}
        x = self.body(x, edge_index, batch=batch, **edge)
        return self.head(gnn.global_mean_pool(x, batch))


class SumOfEmbeddings(nn.Module):
    """One table for each column of codes, summed, as molecule encoders do it."""

    def __init__(self, sizes: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(size, width) for size in sizes])

    def forward(self, codes: Tensor) -> Tensor:
        return sum(table(codes[:, k]) for k, table in enumerate(self.tables))


class EmbeddedBonds(nn.Module):
    """Edge codes through a table, into a layer that takes edge features."""

    def __init__(self) -> None:
        super().__init__()
        self.bonds = nn.Embedding(RELATIONS, IN)
        self.conv = gnn.GINEConv(mlp(IN, HIDDEN))
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, data: Batch) -> Tensor:
        x = self.conv(data.x, data.edge_index, self.bonds(data.edge_attr.view(-1)))
        return self.head(gnn.global_add_pool(x.tanh(), data.batch))


class OneHotBonds(EmbeddedBonds):
    """Edge codes spread out inside the model."""

    def forward(self, data: Batch) -> Tensor:
        bonds = nn.functional.one_hot(data.edge_attr.view(-1), RELATIONS)
        bonds = bonds.to(data.x.dtype) @ self.bonds.weight
        x = self.conv(data.x, data.edge_index, bonds)
        return self.head(gnn.global_add_pool(x.tanh(), data.batch))


class PlainScatter(nn.Module):
    """A graph network of bare PyTorch scatters: nothing in it is known to PyG."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(2 * IN, HIDDEN)
        self.head = nn.Linear(3 * HIDDEN, 3)

    def forward(self, data: Batch) -> Tensor:
        source, target = data.edge_index
        n, batch = data.x.size(0), data.batch
        total = torch.zeros_like(data.x).index_add_(0, target, data.x[source])
        count = torch.bincount(target, minlength=n).clamp(min=1).unsqueeze(1)
        x = self.lin(torch.cat([data.x, total / count], dim=1)).relu()
        where = batch.unsqueeze(1).expand_as(x)
        shape = (int(batch.max()) + 1, x.size(1))
        added = x.new_zeros(shape).scatter_add(0, where, x)
        mean = x.new_zeros(shape).scatter_reduce(0, where, x, "mean", include_self=False)
        largest = x.new_full(shape, -1.0).scatter_reduce(0, where, x, reduce="amax")
        return self.head(torch.cat([added, mean, largest], dim=1))


class OwnAttention(gnn.MessagePassing):
    """A user's layer: attention by PyG's softmax, scaled by a degree of its own."""

    def __init__(self, width_in: int) -> None:
        super().__init__(aggr="add")
        self.lin = nn.Linear(width_in, HIDDEN)
        self.score = nn.Linear(2 * HIDDEN, 1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.lin(x)
        count = degree(edge_index[1], x.size(0), x.dtype).view(-1, 1)
        return self.propagate(edge_index, x=x) / (1 + count).sqrt() + x

    def message(self, x_i: Tensor, x_j: Tensor, index: Tensor, size_i: int) -> Tensor:
        score = self.score(torch.cat([x_i, x_j], dim=-1)).tanh()
        return softmax(score, index, num_nodes=size_i) * x_j


class VirtualNode(nn.Module):
    """A node joined to all others: graph-level state in the middle of the network."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = gnn.GCNConv(IN, HIDDEN), gnn.GCNConv(HIDDEN, HIDDEN)
        self.update, self.head = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv1(x, edge_index).relu()
        x = x + self.update(scatter(x, batch, reduce="mean")).relu()[batch]
        return self.head(gnn.global_max_pool(self.conv2(x, edge_index), batch))


class Blocks(nn.Module):
    """Relation layers with block-diagonal matrices, which need a width that the blocks divide."""

    def __init__(self, name: str, aggr: str) -> None:
        super().__init__()
        self.first = nn.Linear(IN, HIDDEN)
        kind = getattr(gnn, name)
        self.conv = kind(HIDDEN, HIDDEN, RELATIONS, num_blocks=2, aggr=aggr)
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(self.first(x).tanh(), edge_index, edge_type)
        return self.head(gnn.global_mean_pool(x, batch))
