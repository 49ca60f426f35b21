"""Models of other architectures than the bundled ones, trained after the method was fixed.

``gnninterpreter bench realism --models`` takes them by name, each with its data set::

    python benchmarks/unseen.py     # trains all, two to ten minutes each
    gnninterpreter bench realism --out unseen.json --seeds 2 --models \
        benchmarks.unseen:transformer_mutagenicity@mutagenicity,benchmarks.unseen:arma_shape@shape

Weights are kept in ``unseen-weights`` beside this file, so that several processes share them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    ARMAConv,
    AttentionalAggregation,
    ChebConv,
    GraphConv,
    MeanAggregation,
    MultiAggregation,
    ResGatedGraphConv,
    SumAggregation,
    TopKPooling,
    TransformerConv,
)

from gnninterpreter import datasets
from gnninterpreter.files import write_atomically

WEIGHTS = Path(__file__).parent / "unseen-weights"
WIDTH, EPOCHS, STEPS, BATCH, MOST, SEED = 48, 30, 600, 64, 4000, 7


class Stack(nn.Module):
    """Layers, a readout and two dense layers; pooling layers keep half of the nodes."""

    def __init__(self, layers: list[nn.Module], readout: nn.Module, wide: int, data: Any) -> None:
        """Put them together."""
        super().__init__()
        self.layers, self.readout = nn.ModuleList(layers), readout
        self.lift = nn.Linear(data.spec.node_width, WIDTH)
        classes = data.spec.num_classes
        self.out = nn.Sequential(nn.Linear(wide, WIDTH), nn.ReLU(), nn.Linear(WIDTH, classes))

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        batch: Tensor | None = None,
    ) -> Tensor:
        """Return logits, [B, C]."""
        if batch is None:
            batch = x.new_zeros(x.size(0), dtype=torch.long)
        x = self.lift(x)
        for layer in self.layers:
            if isinstance(layer, TopKPooling):
                x, edge_index, edge_attr, batch, *_ = layer(x, edge_index, edge_attr, batch)
                continue
            takes = getattr(layer, "edge_dim", None) is not None
            x = torch.relu(layer(x, edge_index, *([edge_attr] if takes else [])))
        found: Tensor = self.out(self.readout(x, batch))
        return found


def _built(name: str, data: Any) -> Stack:
    edges, layers, readout, wide = data.spec.edge_width or None, [], SumAggregation(), WIDTH
    if name == "transformer":
        layers = [TransformerConv(WIDTH, WIDTH // 4, 4, edge_dim=edges) for _ in range(3)]
        readout = AttentionalAggregation(nn.Linear(WIDTH, 1))
    elif name == "resgated":
        layers = [ResGatedGraphConv(WIDTH, WIDTH, edge_dim=edges) for _ in range(4)]
    elif name == "arma":
        layers = [ARMAConv(WIDTH, WIDTH, num_stacks=2) for _ in range(3)]
        readout, wide = MultiAggregation(["mean", "max"]), 2 * WIDTH
    elif name == "cheb":
        layers = [ChebConv(WIDTH, WIDTH, 3) for _ in range(3)]
    else:
        layers = [GraphConv(WIDTH, WIDTH), GraphConv(WIDTH, WIDTH), TopKPooling(WIDTH, 0.5)]
        layers, readout = [*layers, GraphConv(WIDTH, WIDTH)], MeanAggregation()
    return Stack(layers, readout, wide, data)


def _trained(name: str, dataset: str) -> Stack:
    data = datasets.load(dataset)
    path = WEIGHTS / f"{name}-{dataset}.pt"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        model = _built(name, data)
        if path.exists():
            model.load_state_dict(torch.load(path, weights_only=True))
            return model.eval()
        order = torch.randperm(len(data)).tolist()[:MOST]
        graphs = [data[i] for i in order]
        cut = int(0.8 * len(graphs))
        _fit(model, graphs[:cut])
    accuracy = _accuracy(model, graphs[cut:])
    sys.stderr.write(f"{name} on {dataset}: held-out accuracy {accuracy:.3f}\n")
    WEIGHTS.mkdir(exist_ok=True)
    torch.save(model.state_dict(), path.with_suffix(".part"))
    write_atomically(path, path.with_suffix(".part").read_bytes())
    path.with_suffix(".part").unlink()
    return model.eval()


def _fit(model: Stack, graphs: list[Data]) -> None:
    epochs = max(EPOCHS, STEPS * BATCH // len(graphs))  # small data sets are seen more often
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.train().to(device)
    for _ in range(epochs):
        for batch in DataLoader(graphs, BATCH, shuffle=True):
            loss = nn.functional.cross_entropy(_said(model, batch.to(device)), batch.y.view(-1))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        schedule.step()
    model.cpu()


def _said(model: Stack, batch: Any) -> Tensor:
    found: Tensor = model(batch.x, batch.edge_index, batch.get("edge_attr"), batch.batch)
    return found


def _accuracy(model: Stack, graphs: list[Data]) -> float:
    model.eval()
    right = 0
    with torch.no_grad():
        for batch in DataLoader(graphs, 256):
            right += int((_said(model, batch).argmax(1) == batch.y.view(-1)).sum())
    return right / len(graphs)


def transformer_mutagenicity() -> Stack:
    """Graph transformer that reads bonds, with attention as its readout."""
    return _trained("transformer", "mutagenicity")


def resgated_motif() -> Stack:
    """Residual gated convolutions with a sum readout."""
    return _trained("resgated", "motif")


def arma_shape() -> Stack:
    """ARMA filters with mean and maximum as readouts."""
    return _trained("arma", "shape")


def topk_mutag() -> Stack:
    """Hierarchical pooling, which cannot be relaxed."""
    return _trained("topk", "mutag")


def cheb_is_acyclic() -> Stack:
    """Chebyshev filters with a sum readout."""
    return _trained("cheb", "is_acyclic")


if __name__ == "__main__":
    for make in (
        topk_mutag,
        arma_shape,
        transformer_mutagenicity,
        resgated_motif,
        cheb_is_acyclic,
    ):
        make()
