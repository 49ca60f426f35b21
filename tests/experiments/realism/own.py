"""A model and graphs as a user would name them."""

from __future__ import annotations

import networkx as nx
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, global_mean_pool
from torch_geometric.utils import from_networkx


class Own(nn.Module):
    """One layer and a readout."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.out = GraphConv(1, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.out(global_mean_pool(self.layer(x, edge_index).tanh(), batch))


def model() -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Own().eval()


def graphs() -> list[Data]:
    found = []
    for n in range(5, 11):
        for label, graph in enumerate((nx.cycle_graph(n), nx.star_graph(n - 1))):
            index = from_networkx(graph).edge_index
            found.append(Data(x=torch.ones(n, 1), edge_index=index, y=torch.tensor([label])))
    return found
