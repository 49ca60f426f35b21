"""Models of other architectures than the bundled ones, trained after the method was fixed.

``gnninterpreter bench realism --models`` takes them by name, each with its data set::

    python benchmarks/unseen.py     # trains all, a minute or two each
    gnninterpreter bench realism --out unseen.json --seeds 3 --models \
        benchmarks.unseen:gatv2_mutagenicity@mutagenicity,benchmarks.unseen:pna_motif@motif

Weights are kept in ``unseen-weights`` beside this file, so that several processes share them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    EdgeConv,
    GATv2Conv,
    GINConv,
    GPSConv,
    PNAConv,
    SAGEConv,
    Set2Set,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.utils import degree

from gnninterpreter import datasets
from gnninterpreter.files import write_atomically

WEIGHTS = Path(__file__).parent / "unseen-weights"
WIDTH, EPOCHS, BATCH, MOST = 48, 60, 64, 4000


class Stack(nn.Module):
    """Layers, a readout and two dense layers."""

    def __init__(
        self, layers: list[nn.Module], readout: Callable[..., Tensor], wide: int, classes: int
    ) -> None:
        """Put them together."""
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.readout = readout
        self.out = nn.Sequential(nn.Linear(wide, WIDTH), nn.ReLU(), nn.Linear(WIDTH, classes))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return logits, [B, C]."""
        if batch is None:
            batch = x.new_zeros(x.size(0), dtype=torch.long)
        for layer in self.layers:
            more = (batch,) if isinstance(layer, Lifted) else ()
            x = torch.relu(layer(x, edge_index, *more))
        found: Tensor = self.out(self.readout(x, batch))
        return found


class Lifted(nn.Module):
    """A GPS layer between features of one width, after a linear map where they have another."""

    def __init__(self, inside: int) -> None:
        """Attention over all nodes beside a GIN."""
        super().__init__()
        self.lift = nn.Linear(inside, WIDTH) if inside != WIDTH else nn.Identity()
        self.layer = GPSConv(WIDTH, GINConv(mlp(WIDTH, WIDTH)), heads=4, norm=None)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return features of all nodes; attention stays within a graph."""
        found: Tensor = self.layer(self.lift(x), edge_index, batch)
        return found


def mlp(a: int, b: int) -> nn.Sequential:
    """Two dense layers."""
    return nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, b))


def _built(name: str, data: Any) -> Stack:
    inside, classes = data.spec.node_width, data.spec.num_classes
    widths = [(inside, WIDTH), (WIDTH, WIDTH), (WIDTH, WIDTH)]
    if name == "gatv2":
        layers = [GATv2Conv(a, b // 4, heads=4) for a, b in widths]
        return Stack([*layers], global_add_pool, WIDTH, classes)
    if name == "pna":
        counts = torch.cat(
            [degree(g.edge_index[1], g.num_nodes, torch.long) for g in list(data)[:500]]
        )
        spread = torch.bincount(counts)
        layers = [
            PNAConv(a, b, ["mean", "max", "std"], ["identity", "amplification"], spread)
            for a, b in widths
        ]
        return Stack([*layers], global_mean_pool, WIDTH, classes)
    if name == "set2set":
        layers = [SAGEConv(a, b) for a, b in widths]
        return Stack([*layers], Set2Set(WIDTH, 3), 2 * WIDTH, classes)
    if name == "gps":
        return Stack([Lifted(a) for a, _ in widths], global_mean_pool, WIDTH, classes)
    layers = [EdgeConv(mlp(2 * a, b), aggr="add") for a, b in widths]
    return Stack([*layers], global_max_pool, WIDTH, classes)


def _trained(name: str, dataset: str, seed: int = 0) -> Stack:
    data = datasets.load(dataset)
    path = WEIGHTS / f"{name}-{dataset}.pt"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
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
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.train().to(device)
    for _ in range(EPOCHS):
        for batch in DataLoader(graphs, BATCH, shuffle=True):
            batch = batch.to(device)
            loss = nn.functional.cross_entropy(
                model(batch.x, batch.edge_index, batch.batch), batch.y.view(-1)
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        schedule.step()
    model.cpu()


def _accuracy(model: Stack, graphs: list[Data]) -> float:
    model.eval()
    right = 0
    with torch.no_grad():
        for batch in DataLoader(graphs, 256):
            said = model(batch.x, batch.edge_index, batch.batch).argmax(1)
            right += int((said == batch.y.view(-1)).sum())
    return right / len(graphs)


def gatv2_mutagenicity() -> Stack:
    """GATv2 with a sum readout, on molecules with their hydrogens."""
    return _trained("gatv2", "mutagenicity")


def pna_motif() -> Stack:
    """PNA with a mean readout."""
    return _trained("pna", "motif")


def set2set_mutag() -> Stack:
    """GraphSAGE with Set2Set, on molecules."""
    return _trained("set2set", "mutag")


def gps_is_acyclic() -> Stack:
    """GPS: attention over all nodes beside a GIN."""
    return _trained("gps", "is_acyclic")


def edgeconv_shape() -> Stack:
    """EdgeConv with a max readout."""
    return _trained("edgeconv", "shape")


if __name__ == "__main__":
    for make in (gatv2_mutagenicity, pna_motif, set2set_mutag, gps_is_acyclic, edgeconv_shape):
        make()
