"""Models for timing: the bundled ones, and three without dense kernels, trained in seconds.

Used by `speed.py` and `ablation.py`; runs with older versions of the package, too, so that both can
be timed side by side.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import EdgeConv, MessagePassing, PNAConv, global_add_pool, global_mean_pool

CUSTOM = ("nnconv", "pna", "edgeconv")
NODES, WIDTH = 24, 32


class EdgeMatrices(MessagePassing):
    """A message is the source's row times a matrix that the edge's category chooses."""

    def __init__(self, width_in: int, width: int) -> None:
        """One matrix for each of two categories, through a small network."""
        super().__init__(aggr="add")
        self.width_in, self.width = width_in, width
        self.network = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, width_in * width))
        self.own = nn.Linear(width_in, width)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Return new rows of the nodes."""
        out: Tensor = self.propagate(edge_index, x=x, edge_attr=edge_attr)
        return 0.3 * out + self.own(x)

    def message(self, x_j: Tensor, edge_attr: Tensor) -> Tensor:
        """Return a row for each edge."""
        matrix = self.network(edge_attr).view(-1, self.width_in, self.width)
        return torch.bmm(x_j.unsqueeze(1), matrix).squeeze(1)


class Classifier(nn.Module):
    """Three layers of one kind, a readout and a linear layer."""

    def __init__(self, kind: str, width_in: int) -> None:
        """Build the layers."""
        super().__init__()
        self.kind = kind
        widths = [width_in, WIDTH, WIDTH, WIDTH]
        degrees = torch.tensor([0, 40, 60, 30, 10, 5])
        makers = {
            "nnconv": lambda a, b: EdgeMatrices(a, b),
            "pna": lambda a, b: PNAConv(
                a, b, ["mean", "max", "std"], ["identity", "amplification"], degrees
            ),
            "edgeconv": lambda a, b: EdgeConv(
                nn.Sequential(nn.Linear(2 * a, b), nn.ReLU(), nn.Linear(b, b)), aggr="max"
            ),
        }
        self.layers = nn.ModuleList(makers[kind](a, b) for a, b in itertools.pairwise(widths))
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, data: Batch) -> Tensor:
        """Return logits, [B, 2]."""
        x = data.x
        for layer in self.layers:
            extra = (data.edge_attr,) if self.kind == "nnconv" else ()
            x = torch.nn.functional.leaky_relu(layer(x, data.edge_index, *extra))
        pool = global_mean_pool if self.kind == "edgeconv" else global_add_pool
        out: Tensor = self.out(pool(x, data.batch) / (1 if pool is global_mean_pool else 10))
        return out


def graphs(kind: str, count: int = 300) -> list[Data]:
    """Rings with tails: the ring's edges (or nodes) are all of the second kind, or not all."""
    generator = torch.Generator().manual_seed(0)

    def number(low: int, high: int) -> int:
        return int(torch.randint(low, high, (1,), generator=generator))

    found = []
    for i in range(count):
        ring, size, label = number(3, 6), number(8, NODES + 1), i % 2
        pairs = [(k, (k + 1) % ring) for k in range(ring)]
        pairs += [(k, number(0, k)) for k in range(ring, size)]
        kinds = torch.randint(0, 2, (len(pairs),), generator=generator)
        colors = torch.randint(0, 3, (size,), generator=generator)
        kinds[:ring], colors[:ring] = label, label
        index = torch.tensor(pairs).t()
        found.append(
            Data(
                x=torch.nn.functional.one_hot(colors, 3).float(),
                edge_index=torch.cat([index, index.flip(0)], 1),
                edge_attr=torch.nn.functional.one_hot(torch.cat([kinds, kinds]), 2).float()
                if kind == "nnconv"
                else None,
                y=torch.tensor([label]),
            )
        )
    return found


def custom(kind: str) -> tuple[nn.Module, list[Data]]:
    """Train one of the models without dense kernels, always the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        data = graphs(kind)
        model = Classifier(kind, 3)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
        for _ in range(40):
            for start in range(0, len(data), 50):
                batch = Batch.from_data_list(data[start : start + 50])
                loss = nn.functional.cross_entropy(model(batch), batch.y)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
    return model.eval(), data


def subject(name: str) -> tuple[Any, dict[str, Any], list[str]]:
    """A model, what `explain` needs besides, and the names of its classes."""
    if name in CUSTOM:
        model, data = custom(name)
        return model, {"dataset": data}, ["class 0", "class 1"]
    from gnninterpreter import models

    bundle = models.load(name)
    return bundle, {}, list(bundle.spec.class_names)
