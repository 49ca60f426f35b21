"""A model that one can see through: a graph is "hot" if a strong edge joins two warm nodes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.spec import Continuous, GraphSpec

HOT = ClassTarget(1, "hot")
SPEC = GraphSpec(
    nodes=(Continuous(2, 0.0, 1.0, names=("heat", "noise"), name="state"),),
    edges=(Continuous(1, 0.0, 1.0, names=("strength",), name="edge"),),
    class_names=("cold", "hot"),
)


class WarmPairs(nn.Module):
    """Log-odds of "hot": 40 for each strong edge between warm nodes, less 20.

    Warm is a heat above 0.6, strong a strength above 0.5; noise is not read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(20.0))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_attr: Tensor) -> Tensor:
        warm, strong = (x[:, 0] > 0.6).float(), (edge_attr[:, 0] > 0.5).float()
        near = torch.zeros_like(warm).index_add(0, edge_index[1], warm[edge_index[0]] * strong)
        pairs = global_add_pool((warm * near).unsqueeze(1), batch) / 2
        score = self.scale * (pairs - 0.5)
        return torch.cat([-score, score], dim=1)


def path(heats: list[float], strengths: list[float], generator: torch.Generator) -> Data:
    count = len(heats)
    forth = torch.stack([torch.arange(count - 1), torch.arange(1, count)])
    x = torch.stack([torch.tensor(heats), torch.rand(count, generator=generator)], dim=1)
    attr = torch.tensor(strengths).view(-1, 1)
    return Data(
        x=x,
        edge_index=torch.cat([forth, forth.flip(0)], dim=1),
        edge_attr=torch.cat([attr, attr]),
    )


def real_graphs(count: int = 80) -> RealGraphs:
    """Paths of five nodes with random numbers; about one in two is hot."""
    generator = torch.Generator().manual_seed(0)
    graphs = [
        path(
            torch.rand(5, generator=generator).tolist(),
            torch.rand(4, generator=generator).tolist(),
            generator,
        )
        for _ in range(count)
    ]
    return RealGraphs(GraphClassifier(WarmPairs(), SPEC, examples=graphs), graphs)
