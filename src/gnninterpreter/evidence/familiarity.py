"""Familiarity: does a graph look inside the model, layer by layer, as real graphs do?

The search goes by structure and features alone, so this is a second opinion on what it found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.frozen import hooked

# Fewer real graphs say nothing about how far they lie from each other; more say the same.
FEWEST, MOST = 10, 64
# Channels that hardly move over real nodes would make noise count as much as signal.
STILL = 1e-3


def familiarity(
    classifier: GraphClassifier, graph: Data, real: Sequence[Data]
) -> tuple[float, list[float]] | None:
    """Share of real graphs that lie at least as far from the others inside the model, in percent.

    How far a graph lies is the distance of each node to the nearest node of another real graph,
    each channel in units of its spread, as a mean over nodes and layers. Gives the share over all
    layers, and for each layer by itself; None where there are too few real graphs of the class, or
    no layer has values for nodes.
    """
    if len(real) < FEWEST or not graph.num_nodes:
        return None
    graphs = [graph, *real[:MOST]]
    layers = node_activations(classifier, graphs)
    if not layers:
        return None
    owner = torch.arange(len(graphs)).repeat_interleave(
        torch.tensor([int(one.num_nodes or 0) for one in graphs])
    )
    apart = torch.stack([_apart(rows.float().cpu(), owner, len(graphs)) for rows in layers])
    return _share(apart.mean(0)), [_share(row) for row in apart]


def node_activations(classifier: GraphClassifier, graphs: Sequence[Data]) -> list[Tensor]:
    """What each layer makes of every node, [nodes of all graphs, channels], in order of use.

    Layers are the model's message-passing layers, and every innermost module where it has none.
    """
    model = classifier.model
    modules = [part for part in model.modules() if isinstance(part, MessagePassing)]
    modules = modules or [part for part in model.modules() if not list(part.children())]
    step = len(graphs) if classifier.batched else 1
    parts = [graphs[start : start + step] for start in range(0, len(graphs), step)]
    found = [_listened(classifier, part, modules) for part in parts]
    if len({len(made) for made in found}) != 1:
        return []
    return [torch.cat(rows) for rows in zip(*found, strict=True)]


def _listened(
    classifier: GraphClassifier, graphs: Sequence[Data], modules: list[nn.Module]
) -> list[Tensor]:
    made: list[Tensor] = []
    nodes = sum(int(one.num_nodes or 0) for one in graphs)

    def keep(_: Any, output: Any) -> None:
        value = output[0] if isinstance(output, tuple) and output else output
        if isinstance(value, Tensor) and value.is_floating_point() and value.size(0) == nodes:
            made.append(value.detach().flatten(1) if value.dim() > 1 else value.detach()[:, None])

    with hooked([(module, "output", keep) for module in modules]):
        classifier.score_data(graphs, chunk=len(graphs))
    return made


def _apart(rows: Tensor, owner: Tensor, count: int) -> Tensor:
    """Mean distance of each graph's nodes to the nearest node of other real graphs, [graphs]."""
    real = owner > 0
    spread = rows[real].std(0)
    rows = rows[:, spread > STILL] / spread[spread > STILL]
    if not rows.size(1):
        return torch.zeros(count, dtype=rows.dtype)
    between = torch.cdist(rows, rows[real]) / rows.size(1) ** 0.5
    between[owner.unsqueeze(1) == owner[real].unsqueeze(0)] = torch.inf
    near = between.amin(1)
    return torch.zeros(count, dtype=near.dtype).index_add_(0, owner, near) / owner.bincount()


def _share(apart: Tensor) -> float:
    """Share of the real graphs that lie at least as far out as the first, in percent."""
    # A little room: another order of the same sums must not turn equal into farther.
    return float(100 * (apart[1:] * 1.001 + 1e-3 >= apart[0]).double().mean())
