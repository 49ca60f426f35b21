"""Familiarity: does a graph look inside the model, layer by layer, as real graphs do?

The search goes by structure and features alone, so this is a second opinion on what it found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from gnninterpreter.evidence.thresholds import SHORTCUT_PERCENTILE
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.frozen import hooked
from gnninterpreter.spec.data import node_count

# Of fewer real graphs one in a row of its own proves nothing: a real graph that was left out is
# the farthest of them all more often than the bar allows. More say the same.
FEWEST, MOST = 20, 64
# Channels that hardly move over real nodes would make noise count as much as signal.
STILL = 1e-3


@dataclass(frozen=True)
class Familiarity:
    """How far a graph lies from real ones inside the model.

    Args:
        share: Share of real graphs that lie at least as far from the others, in percent.
        layers: The same for each layer by itself.
        count: How many real graphs there were.
    """

    share: float
    layers: list[float]
    count: int

    @property
    def passed(self) -> bool:
        """Whether a real graph would come to this more often than the bar allows.

        The graph itself counts among those it is held against, as in any test by ranks.
        """
        return self.share * self.count + 100 >= SHORTCUT_PERCENTILE * (self.count + 1)


def familiarity(
    classifier: GraphClassifier, graph: Data, real: Sequence[Data]
) -> Familiarity | None:
    """How far a graph lies from real ones inside the model; None where that cannot be told.

    That is the distance of each node to the nearest node of another real graph, each channel in
    units of its spread, as a mean over nodes and layers. It cannot be told where there are too few
    real graphs of the class, or no layer has values for nodes.
    """
    if len(real) < FEWEST or not graph.num_nodes:
        return None
    graphs = [graph, *real[:MOST]]
    layers = node_activations(classifier, graphs)
    if not layers:
        return None
    owner = torch.arange(len(graphs)).repeat_interleave(
        torch.tensor([node_count(one) for one in graphs])
    )
    apart = torch.stack([_apart(rows.float().cpu(), owner, len(graphs)) for rows in layers])
    return Familiarity(_share(apart.mean(0)), [_share(row) for row in apart], len(graphs) - 1)


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
    nodes = sum(node_count(one) for one in graphs)

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
