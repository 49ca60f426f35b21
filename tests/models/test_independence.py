"""Whether a graph gets the same scores alone and beside others."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import Continuous, GraphSpec

SPEC = GraphSpec(nodes=(Continuous(1, 0.0, 50.0),), class_names=("a", "b"))


def stars() -> list[Data]:
    """Stars whose nodes are numbered in their features."""
    found = []
    for size in range(4, 16):
        ends = torch.stack([torch.zeros(size - 1).long(), torch.arange(1, size)])
        x = torch.arange(float(size)).unsqueeze(1)
        found.append(Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], 1), y=size % 2))
    return found


class Sums(nn.Module):
    """Scores of a graph are sums over its nodes."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return global_add_pool(torch.cat([x, self.more(x, edge_index, batch)], 1), batch)

    def more(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return -x


class InCompany(Sums):
    """Nodes know the mean over the whole batch."""

    def more(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return x - x.mean(0)


class ByPlace(Sums):
    """The place of a node in the batch, odd or even, has a say, as rounding has between ties."""

    def more(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return x * (torch.arange(len(x)) % 2).view(-1, 1)


def connected(model: nn.Module) -> GraphClassifier:
    return GraphClassifier(model, SPEC, examples=stars(), task="multiclass")


def test_a_model_that_sees_graphs_apart_is_batched() -> None:
    found = connected(Sums())
    assert (found.batched, found.undecided) == (True, False)


def test_one_whose_graphs_influence_each_other_is_not() -> None:
    found = connected(InCompany())
    assert (found.batched, found.undecided) == (False, False)
    assert any("scored one by one" in line for line in found.describe())


def test_one_that_depends_on_the_order_as_much_as_on_the_batch_is() -> None:
    found = connected(ByPlace())
    assert (found.batched, found.undecided) == (True, True)
    assert any("left to rounding" in line for line in found.describe())
