"""Models that cannot be relaxed, and what the probe must say of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch
from torch_geometric.utils import to_dense_adj, to_dense_batch

from gnninterpreter.testing import TinyClassifier
from tests.relax.cases import EDGE_NAMES, Case, conv, norm, of, readout
from tests.relax.networks import HIDDEN, IN, RELATIONS


@dataclass(frozen=True)
class Refusal:
    """A model that cannot be relaxed, and what the probe must say of it.

    Args:
        case: The model.
        module: Name of the layer that is to blame; empty where the model's own code is.
        named: What the reason must say of it.
    """

    case: Case
    module: str
    named: str

    def __str__(self) -> str:
        return str(self.case)

    @property
    def row(self) -> str:
        """The row of the table."""
        blamed = f"`{self.module}` {self.named}" if self.module else self.named
        return f"| {self.case.layer} | {EDGE_NAMES[self.case.edges]} | {blamed} |"


class Pooled(nn.Module):
    """Convolution, hierarchical pooling, readout."""

    def __init__(self, pool: nn.Module) -> None:
        super().__init__()
        self.conv, self.pool, self.head = gnn.GraphConv(IN, HIDDEN), pool, nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(x, edge_index).tanh()
        pooled = self.pool(x, edge_index, batch=batch)
        batch = pooled[2] if isinstance(self.pool, gnn.EdgePooling) else pooled[3]
        return self.head(gnn.global_mean_pool(pooled[0], batch))


class DiffPooled(nn.Module):
    """Dense differentiable pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.assign = gnn.GraphConv(IN, HIDDEN), nn.Linear(HIDDEN, 2)
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x, mask = to_dense_batch(self.conv(x, edge_index).tanh(), batch)
        adjacency = to_dense_adj(edge_index, batch).to(x.dtype)
        x, *_ = gnn.dense_diff_pool(x, adjacency, self.assign(x), mask)
        return self.head(x.mean(dim=1))


class PythonLoop(nn.Module):
    """A readout written as a loop over the graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = gnn.GraphConv(IN, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, data: Batch) -> Tensor:
        x = self.conv(data.x, data.edge_index).tanh()
        rows = [x[data.batch == graph].mean(dim=0) for graph in range(data.num_graphs)]
        return self.head(torch.stack(rows))


class LoopLayer(nn.Module):
    """A user's layer that loops over nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(IN, HIDDEN)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.lin(x)
        sums = [x[edge_index[0, edge_index[1] == i]].sum(dim=0) for i in range(x.size(0))]
        return x + torch.stack(sums)


class NoBatch(nn.Module):
    """Takes one graph at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = gnn.GraphConv(IN, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(self.conv(x, edge_index).tanh().mean(dim=0, keepdim=True))


class Fails(nn.Module):
    """Refuses isolated nodes, which an absent candidate is."""

    def __init__(self) -> None:
        super().__init__()
        self.check, self.conv = NoCompleteGraphs(), gnn.GraphConv(IN, HIDDEN)
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(self.check(x, edge_index), edge_index)
        return self.head(gnn.global_add_pool(x, batch))


class NoCompleteGraphs(nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if edge_index.size(1) > 5 * x.size(0):
            raise RuntimeError("too many edges")
        return x


def _refusal(case: Case, module: str, named: str) -> Refusal:
    return Refusal(replace(case, section="Not relaxed"), module, named)


def _custom(layer: str, build: Callable[[], nn.Module], module: str, named: str) -> Refusal:
    return Refusal(Case("Not relaxed", layer, build), module, named)


REFUSALS = [
    _custom("TopKPooling", lambda: Pooled(gnn.TopKPooling(HIDDEN)), "pool", "(TopKPooling)"),
    _custom("SAGPooling", lambda: Pooled(gnn.SAGPooling(HIDDEN)), "pool", "(SAGPooling)"),
    _custom("EdgePooling", lambda: Pooled(gnn.EdgePooling(HIDDEN)), "pool", "(EdgePooling)"),
    _custom("dense_diff_pool", DiffPooled, "", "the code of DiffPooled.forward"),
    _refusal(conv("MFConv", of("MFConv")), "convs.0", "(MFConv)"),
    _refusal(
        conv("GPSConv", lambda width: gnn.GPSConv(IN, gnn.GCNConv(IN, IN)), width=IN),
        "convs.0",
        "(GPSConv)",
    ),
    _refusal(
        conv("FiLMConv", of("FiLMConv", num_relations=RELATIONS), edges="type"),
        "convs.0",
        "(FiLMConv)",
    ),
    _refusal(
        conv("RGCNConv(max)", of("RGCNConv", num_relations=RELATIONS, aggr="max"), edges="type"),
        "convs.0",
        "(RGCNConv)",
    ),
    _refusal(
        conv("RGATConv", of("RGATConv", num_relations=RELATIONS), edges="type"),
        "",
        "it reads 'type' of the edges in a way that has no gradient",
    ),
    _refusal(
        conv("SAGEConv(lstm)", of("SAGEConv", aggr="lstm")),
        "convs.0",
        "(SAGEConv, in its LSTMAggregation)",
    ),
    _refusal(
        conv("SAGEConv(median)", of("SAGEConv", aggr="median")),
        "convs.0",
        "(SAGEConv, in its MedianAggregation)",
    ),
    _refusal(readout("MedianAggregation", gnn.MedianAggregation), "pool", "(MedianAggregation)"),
    _refusal(
        readout("QuantileAggregation", lambda: gnn.QuantileAggregation(0.3)),
        "pool",
        "(QuantileAggregation)",
    ),
    _refusal(readout("MulAggregation", gnn.MulAggregation), "pool", "(MulAggregation)"),
    _refusal(
        readout("LSTMAggregation", lambda: gnn.LSTMAggregation(HIDDEN, HIDDEN)),
        "pool",
        "(LSTMAggregation)",
    ),
    _refusal(
        readout("GRUAggregation", lambda: gnn.GRUAggregation(HIDDEN, HIDDEN)),
        "pool",
        "(GRUAggregation)",
    ),
    _refusal(
        readout("SortAggregation", lambda: gnn.SortAggregation(2), 2 * HIDDEN),
        "pool",
        "(SortAggregation)",
    ),
    _refusal(
        readout("SetTransformerAggregation", lambda: gnn.SetTransformerAggregation(HIDDEN)),
        "pool",
        "(SetTransformerAggregation)",
    ),
    _refusal(
        norm(
            "BatchNorm1d without statistics",
            partial(nn.BatchNorm1d, HIDDEN, track_running_stats=False),
        ),
        "norm",
        "(BatchNorm1d)",
    ),
    _custom("Python loop over graphs", PythonLoop, "", "the code of PythonLoop.forward"),
    _custom(
        "Python loop over nodes",
        lambda: TinyClassifier(LoopLayer(), HIDDEN),
        "convs.0",
        "(LoopLayer)",
    ),
    _custom("readout without a batch vector", NoBatch, "", "the code of NoBatch.forward"),
    _custom("code that raises on soft graphs", Fails, "check", "(NoCompleteGraphs)"),
]
