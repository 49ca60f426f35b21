"""A model that one can see through: a graph is "paired" if two red nodes are neighbours."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.spec import Categorical, GraphSpec

PLAIN_CLASS, PAIRED_CLASS = ClassTarget(0, "plain"), ClassTarget(1, "paired")

SPEC = GraphSpec(
    nodes=(Categorical(2, names=("blue", "red"), name="colour"),), class_names=("plain", "paired")
)


class RedPairs(nn.Module):
    """Log-odds of "paired": 20 x (number of edges between red nodes) - 10."""

    def __init__(self, scale: float = 10.0) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        red = x[:, 1]
        near = torch.zeros_like(red).index_add(0, edge_index[1], red[edge_index[0]])
        pairs = global_add_pool((red * near).unsqueeze(1), batch) / 2
        score = self.scale * (pairs - 0.5)
        return torch.cat([-score, score], dim=1)


def chain(colours: str) -> Data:
    """A path of nodes, "b" for blue and "r" for red."""
    count = len(colours)
    forth = torch.stack([torch.arange(count - 1), torch.arange(1, count)])
    x = torch.eye(2)[[int(c == "r") for c in colours]]
    return Data(x=x, edge_index=torch.cat([forth, forth.flip(0)], dim=1))


PAIRED = ["bbrrb", "rrbbb", "brbrr", "bbbrrbb", "rbbrrb", "rrb", "bbrr", "brrbr", "rrbr", "bbbbrr"]
PLAIN = ["bbrbb", "rbrbb", "brbrb", "bbbrbbb", "rbbrbb", "rbb", "bbr", "brbbr", "rbbr", "bbbbrb"]


def classifier(scale: float = 10.0) -> GraphClassifier:
    return GraphClassifier(RedPairs(scale), SPEC, examples=[chain(c) for c in PLAIN])


def real_graphs(scale: float = 10.0, times: int = 1) -> RealGraphs:
    return RealGraphs(classifier(scale), [chain(c) for c in PAIRED + PLAIN] * times)
