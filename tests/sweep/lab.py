"""A user's own module, as the jobs of a sweep find it: checkpoints of a tiny model, and graphs."""

from __future__ import annotations

import time
from pathlib import Path

import networkx as nx
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx

from tests.cli.lab import Degrees


def _data(graph: nx.Graph, label: int) -> Data:
    made = from_networkx(graph)
    return Data(
        x=torch.ones(graph.number_of_nodes(), 1), edge_index=made.edge_index, y=torch.tensor(label)
    )


graphs = [_data(nx.path_graph(n), 0) for n in range(4, 10)]
graphs += [_data(nx.complete_graph(n), 1) for n in range(4, 10)]


def checkpoint(path: Path, scale: float = 1.0) -> Path:
    """Write weights."""
    state = Degrees().state_dict()
    torch.save({**state, "head.weight": state["head.weight"] * scale}, path)
    return path


def load(path: str) -> nn.Module:
    """Load weights."""
    model = Degrees()
    model.load_state_dict(torch.load(path, weights_only=True))
    return model


def hangs(path: str) -> nn.Module:
    """Take longer than anybody waits."""
    time.sleep(20)
    return load(path)


def fails(path: str) -> nn.Module:
    """Fail as often as it is called, and count that."""
    with open(f"{path}.calls", "a", encoding="utf-8") as calls:
        calls.write("x")
    raise OSError("the disk is gone")
