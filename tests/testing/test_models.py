from __future__ import annotations

import torch
from torch import nn
from torch_geometric import nn as gnn

from gnninterpreter.graphs import random_graphs
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.testing import TinyClassifier


def logits(model: nn.Module, spec: GraphSpec) -> torch.Tensor:
    return model(random_graphs(spec, 3, 5, torch.Generator().manual_seed(0)).to_batch())


def test_one_layer_and_several() -> None:
    spec = GraphSpec((Categorical(3),))
    assert logits(TinyClassifier(gnn.GCNConv(3, 4), 4), spec).shape == (3, 3)
    deep = TinyClassifier([gnn.GCNConv(3, 4), gnn.SAGEConv(4, 5)], 5, num_classes=2)
    assert logits(deep, spec).shape == (3, 2)


def test_edge_arguments() -> None:
    features = GraphSpec((Categorical(3),), (Continuous(2),))
    model = TinyClassifier(gnn.GATConv(3, 4, edge_dim=2), 4, edge="edge_attr")
    assert logits(model, features).shape == (3, 3)
    weight = GraphSpec((Categorical(3),), (Continuous(1),))
    model = TinyClassifier(gnn.GCNConv(3, 4), 4, edge="edge_weight")
    assert logits(model, weight).shape == (3, 3)
    types = GraphSpec((Categorical(3),), (Categorical(2, encoding="index"),))
    model = TinyClassifier(gnn.RGCNConv(3, 4, 2), 4, edge="edge_type")
    assert logits(model, types).shape == (3, 3)


def test_norms_readouts_and_embeddings() -> None:
    codes = GraphSpec((Categorical(4, encoding="index"),))
    model = TinyClassifier(
        gnn.GCNConv(3, 4),
        4,
        norm=gnn.GraphNorm(4),
        pool=gnn.Set2Set(4, 2),
        pooled=8,
        embed=nn.Embedding(4, 3),
        activation=torch.relu,
    )
    assert logits(model, codes).shape == (3, 3)
    model = TinyClassifier(gnn.GCNConv(3, 4), 4, norm=nn.BatchNorm1d(4), pool=gnn.global_add_pool)
    assert logits(model, GraphSpec((Categorical(3),))).shape == (3, 3)
