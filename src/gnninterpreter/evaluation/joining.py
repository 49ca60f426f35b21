"""Putting two graphs together by one edge: how verification attaches a motif to a base graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.errors import SpecError
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import Block, Categorical, Continuous, GraphSpec

__all__ = ["ClassCounts", "class_counts", "flip_rate", "join"]


@dataclass(frozen=True)
class ClassCounts:
    """What a model makes of a set of graphs.

    Args:
        mean: Mean probability of each class.
        counts: How many graphs each class wins.
    """

    mean: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """Number of graphs."""
        return sum(self.counts)


def class_counts(classifier: GraphClassifier, graphs: Sequence[Data]) -> ClassCounts:
    """Classify graphs and average their class probabilities.

    Args:
        classifier: The model.
        graphs: At least one graph.
    """
    probabilities = classifier.score_data(list(graphs)).probabilities.double().cpu()
    winners = probabilities.argmax(1).bincount(minlength=classifier.spec.num_classes)
    return ClassCounts(tuple(probabilities.mean(0).tolist()), tuple(winners.tolist()))


def join(
    spec: GraphSpec,
    base: Data,
    part: Data,
    at: int,
    to: int,
    rng: np.random.Generator | None = None,
) -> Data:
    """Return the two graphs side by side with one edge between them.

    Args:
        spec: What features there are; those of the new edge are drawn uniformly.
        base: The graph whose nodes keep their numbers.
        part: The graph to attach.
        at: Node of the base.
        to: Node of the part.
        rng: Source of randomness for the new edge; only needed where edges have features.

    Raises:
        SpecError: If edges have features and no source of randomness is given.
    """
    first = int(base.num_nodes or 0)
    bridge = torch.tensor([[at], [first + to]])
    if not spec.directed:
        bridge = torch.cat([bridge, bridge.flip(0)], dim=1)
    index = torch.cat([base.edge_index, part.edge_index + first, bridge], dim=1)
    joined = Data(x=torch.cat([base.x, part.x]), edge_index=index)
    if spec.edges:
        if rng is None:
            raise SpecError("edges have features, so the new one needs rng= to draw its own")
        row = torch.tensor([_drawn(spec.edges, rng)], dtype=base.edge_attr.dtype)
        row = row.reshape(1, *base.edge_attr.shape[1:]).repeat(
            bridge.size(1), *[1] * (base.edge_attr.dim() - 1)
        )
        joined.edge_attr = torch.cat([base.edge_attr, part.edge_attr, row])
    return joined


def flip_rate(
    classifier: GraphClassifier, part: Data, graphs: Sequence[Data], target: int, seed: int = 0
) -> float:
    """Share of graphs that the model assigns to the class once a part is attached to them.

    The control of faithfulness: an explanation should turn graphs of other classes into its own, a
    random graph of the same size should not.

    Args:
        classifier: The model.
        part: What to attach, at a random node of each graph.
        graphs: Graphs that the model assigns to other classes; those it does not are left out.
        target: The class.
        seed: The same seed attaches at the same places.

    Returns:
        The share; NaN if no graph is left.
    """
    before = classifier.score_data(list(graphs)).logits.argmax(1)
    others = [
        graph for graph, found in zip(graphs, before.tolist(), strict=True) if found != target
    ]
    if not others:
        return float("nan")
    rng = np.random.default_rng(seed)
    size = int(part.num_nodes or 0)
    pasted = []
    for graph in others:
        at, to = int(rng.integers(int(graph.num_nodes or 0))), int(rng.integers(size))
        pasted.append(join(classifier.spec, graph, part, at, to, rng))
    after = classifier.score_data(pasted).logits.argmax(1)
    return float((after == target).double().mean())


def _drawn(blocks: Sequence[Block], rng: np.random.Generator) -> list[float]:
    row: list[float] = []
    for block in blocks:
        if isinstance(block, Continuous):
            row += np.asarray(rng.uniform(block.low, block.high)).reshape(-1).tolist()
        elif isinstance(block, Categorical) and block.encoding == "index":
            row.append(float(rng.integers(block.size)))
        else:
            row += np.eye(block.size)[int(rng.integers(block.size))].tolist()
    return row
