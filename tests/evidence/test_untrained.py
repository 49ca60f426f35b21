"""Networks that nobody trained, by hand on small graphs."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from gnninterpreter.evidence.random_graphs import random_of_size
from gnninterpreter.evidence.untrained import RandomGIN
from gnninterpreter.spec import Categorical, GraphSpec
from tests.tiny import PLAIN, RICH


def test_the_embedding_by_hand() -> None:
    # Two joined nodes with a one each: all nodes sum to 2 before the first layer.
    gin = RandomGIN(PLAIN, seed=3)
    first = gin._weights[0]
    h = torch.tanh(2 * first[0])
    h2 = torch.tanh(2 * h @ first[1])
    h3 = torch.tanh(2 * h2 @ first[2])
    pair = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    assert torch.allclose(gin.embed([pair, pair])[1], torch.cat([h, h2, h3], dim=1)[0])
    assert abs(float(torch.cat([w.flatten() for w in first]).std()) - 0.5) < 0.03
    assert not torch.equal(gin.embed([pair]), RandomGIN(PLAIN, seed=4).embed([pair]))


def test_the_numbering_of_nodes_does_not_matter_and_edge_features_do() -> None:
    spec = GraphSpec(edges=(Categorical(2),), class_names=("a", "b"))
    index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    red = torch.eye(2)[[0, 0, 1, 1]]
    one = Data(x=torch.ones(3, 1), edge_index=index, edge_attr=red)
    other = Data(x=torch.ones(3, 1), edge_index=2 - index, edge_attr=red)
    all_red = Data(x=torch.ones(3, 1), edge_index=index, edge_attr=torch.eye(2)[[0, 0, 0, 0]])
    gin = RandomGIN(spec)
    a, b, c = gin.embed([one, other, all_red])
    assert torch.allclose(a, b)
    assert not torch.allclose(a, c)


def test_graphs_with_many_kinds_of_features_are_embedded() -> None:
    graphs = [random_of_size(RICH, n, n, seed=n) for n in (3, 4, 5)]
    assert RandomGIN(RICH).embed(graphs).shape == (3, 96)
