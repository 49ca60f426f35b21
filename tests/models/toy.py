"""A data set small enough to train on in a test: bright stars against dark paths."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.is_acyclic import full_tree
from gnninterpreter.datasets.shape import star
from gnninterpreter.training.trainer import TrainingConfig

MODEL = {
    "architecture": "gcn",
    "in_channels": 1,
    "num_classes": 2,
    "width": 8,
    "layers": 2,
    "pooling": "mean",
}


def toy_graphs(count: int = 40) -> list[Data]:
    """Stars with x = 1 (label 0) and paths with x = -1 (label 1) of 4 to 9 nodes, in turn."""
    graphs = []
    for index in range(count):
        size, label = 4 + index // 2 % 6, index % 2
        shape = full_tree(size, 1) if label else star(size - 1)
        graphs.append(undirected_graph(*shape, label, x=torch.full((size, 1), 1.0 - 2 * label)))
    return graphs


def toy_config(**changes: Any) -> TrainingConfig:
    settings = {"model": MODEL, "batch_size": 16, "max_epochs": 6, "warmup": 0, **changes}
    return TrainingConfig(**settings)
