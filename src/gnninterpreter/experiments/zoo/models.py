"""The models: architectures that differ in layers, readout, depth and width.

Each trains in seconds; what was trained is kept in memory for the process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch, Data

from gnninterpreter.experiments.zoo.graphs import SPECS, draw
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count

EPOCHS, BATCH = 80, 40
# Accuracy below which a model has learned nothing, and how often it is then trained.
LEARNED, ATTEMPTS = 0.6, 5
READOUTS = {"sum": gnn.global_add_pool, "mean": gnn.global_mean_pool, "max": gnn.global_max_pool}


@dataclass(frozen=True)
class Trained:
    """A trained model with what is needed to explain it."""

    model: nn.Module
    spec: GraphSpec
    statistics: ClassStatistics
    accuracy: float


@dataclass(frozen=True)
class Entry:
    """How to make one subject: data, layers, readout, width and depth."""

    data: str
    layer: str
    readout: str
    width: int = 32
    depth: int = 3


ZOO: dict[str, Entry] = {
    "zoo-gin-sum": Entry("ba2", "gin", "sum"),
    "zoo-gin-max-deep": Entry("ba2", "gin", "max", 24, 5),
    "zoo-sage-max": Entry("colors", "sage", "max", 48),
    "zoo-cheb-unsure": Entry("ba2", "cheb", "mean"),
    "zoo-cheb-mean": Entry("colors", "cheb", "mean"),
    "zoo-gatv2-mean": Entry("colors", "gatv2", "mean"),
    "zoo-graphconv-mean": Entry("colors", "graphconv", "mean", 64, 2),
    "zoo-gcn-max-wide": Entry("colors", "gcn", "max", 128, 3),
    "zoo-sage-sum": Entry("colors", "sage", "sum"),
    "zoo-pna-mean": Entry("levels", "pna", "mean", 16),
    "zoo-transformer-max": Entry("levels", "transformer", "max"),
    "zoo-gin-mean": Entry("levels", "gin", "mean"),
    "zoo-gine-sum": Entry("strengths", "gine", "sum"),
    "zoo-transformer-mean": Entry("strengths", "transformer", "mean", 24),
    "zoo-gatv2-max": Entry("levels", "gatv2", "max"),
    "zoo-tag-mean": Entry("colors", "tag", "mean"),
    "zoo-sage-max-mean": Entry("colors", "sage-max", "mean", 48, 2),
    "zoo-arma-sum": Entry("levels", "arma", "sum", 24),
    "zoo-le-max": Entry("ba2", "le", "max"),
    "zoo-gin-norm-mean": Entry("ba2", "gin-norm", "mean"),
    "zoo-pna-sum": Entry("ba2", "pna", "sum", 16, 2),
    "zoo-gated-max": Entry("strengths", "gated", "max"),
    "zoo-nn-sum": Entry("strengths", "nn", "sum", 16, 2),
}


class ZooModel(nn.Module):
    """A stack of layers, a readout and two dense layers."""

    def __init__(self, entry: Entry, spec: GraphSpec, degrees: Tensor) -> None:
        super().__init__()
        self.takes_edges = bool(spec.edges)
        widths = [spec.node_width] + [entry.width] * entry.depth
        self.layers = nn.ModuleList(
            _layer(entry.layer, a, b, spec.edge_width, degrees) for a, b in pairwise(widths)
        )
        self.readout = READOUTS[entry.readout]
        self.dense = nn.Linear(entry.width, entry.width)
        self.out = nn.Linear(entry.width, spec.num_classes)

    def forward(self, data: Batch) -> Tensor:
        """Return logits, [B, C]."""
        x = data.x
        for layer in self.layers:
            extra = (data.edge_attr,) if self.takes_edges else ()
            x = torch.nn.functional.leaky_relu(layer(x, data.edge_index, *extra))
        pooled = self.readout(x, data.batch)
        out: Tensor = self.out(torch.nn.functional.leaky_relu(self.dense(pooled)))
        return out


def _layer(name: str, a: int, b: int, edge_width: int, degrees: Tensor) -> nn.Module:
    def network(width: int, norm: bool = False) -> nn.Sequential:
        between = [nn.BatchNorm1d(b)] if norm else []
        return nn.Sequential(nn.Linear(width, b), *between, nn.ReLU(), nn.Linear(b, b))

    edge_dim = edge_width or None
    makers: dict[str, Callable[[], nn.Module]] = {
        "gcn": lambda: gnn.GCNConv(a, b),
        "graphconv": lambda: gnn.GraphConv(a, b),
        "sage": lambda: gnn.SAGEConv(a, b),
        "cheb": lambda: gnn.ChebConv(a, b, K=3),
        "sage-max": lambda: gnn.SAGEConv(a, b, aggr="max"),
        "tag": lambda: gnn.TAGConv(a, b),
        "arma": lambda: gnn.ARMAConv(a, b, num_stacks=2),
        "le": lambda: gnn.LEConv(a, b),
        "gin": lambda: gnn.GINConv(network(a)),
        "gin-norm": lambda: gnn.GINConv(network(a, norm=True), train_eps=True),
        "gine": lambda: gnn.GINEConv(network(a), edge_dim=edge_dim),
        "gatv2": lambda: gnn.GATv2Conv(a, b // 4, heads=4, edge_dim=edge_dim),
        "transformer": lambda: gnn.TransformerConv(a, b // 2, heads=2, edge_dim=edge_dim),
        "gated": lambda: gnn.ResGatedGraphConv(a, b, edge_dim=edge_dim),
        "nn": lambda: gnn.NNConv(a, b, nn.Linear(edge_width, a * b)),
        "pna": lambda: gnn.PNAConv(
            a, b, ["mean", "max", "std"], ["identity", "amplification"], degrees
        ),
    }
    return makers[name]()


@lru_cache(maxsize=32)
def trained(name: str, seed: int = 0) -> Trained:
    """Train a model of the zoo, always the same for the same seed on one kind of machine."""
    entry = ZOO[name]
    spec = SPECS[entry.data]
    graphs = draw(entry.data, seed)
    batch = Batch.from_data_list(graphs)
    # Whether a deep model without norms learns at all may hang on how a machine rounds.
    for attempt in range(ATTEMPTS):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + 1000 * attempt)
            model = ZooModel(entry, spec, _degree_histogram(graphs))
            _train(model, graphs)
        model.eval()
        with torch.no_grad():
            accuracy = float((model(batch).argmax(1) == batch.y).float().mean())
        if accuracy >= LEARNED:
            break
    return Trained(model, spec, ClassStatistics.from_dataset(model, graphs, spec), accuracy)


def _train(model: nn.Module, graphs: list[Data]) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        order = torch.randperm(len(graphs)).tolist()
        for start in range(0, len(order), BATCH):
            batch = Batch.from_data_list([graphs[i] for i in order[start : start + BATCH]])
            loss = nn.functional.cross_entropy(model(batch), batch.y, label_smoothing=1e-4)
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        schedule.step()


def _degree_histogram(graphs: list[Data]) -> Tensor:
    degrees = torch.cat([torch.bincount(g.edge_index[1], minlength=node_count(g)) for g in graphs])
    return torch.bincount(degrees)
