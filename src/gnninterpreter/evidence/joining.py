"""Putting two graphs together by one edge: how verification attaches a motif to a base graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import node_rows
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.spec.derived import completed, completed_each


@dataclass(frozen=True)
class ClassCounts:
    """What a model makes of graphs: mean probability of each class, how many graphs each wins."""

    mean: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """Number of graphs."""
        return sum(self.counts)


def class_counts(classifier: GraphClassifier, graphs: Sequence[Data]) -> ClassCounts:
    """Classify graphs, one at least, and average their class probabilities."""
    probabilities = classifier.score_data(list(graphs)).probabilities.double().cpu()
    probabilities = probabilities[~probabilities.isnan().any(1)]
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

    The nodes of ``base`` keep their numbers. The edge leads from node ``at`` of it to node ``to``
    of ``part``; where edges have features it has those of a random edge of the base, or of the part
    where the base has none. Where neither has one to go by, they stay side by side.

    Raises:
        SpecError: If edges have features and no source of randomness is given.
    """
    if spec.edges and rng is None:
        raise SpecError("edges have features, so the new one needs rng= to draw its own")
    choices = _alike(spec, base, part)
    like = 0 if rng is None or not choices else int(rng.integers(choices))
    return completed(_joined(spec, base, part, at, to, like), spec)


def _alike(spec: GraphSpec, base: Data, part: Data) -> int:
    """How many edges there are whose features the new one may have."""
    return base.edge_attr.size(0) or part.edge_attr.size(0) if spec.edges else 0


def _joined(spec: GraphSpec, base: Data, part: Data, at: int, to: int, like: int) -> Data:
    first, second = node_count(base), node_count(part)
    ends = [at, first + to]
    bridge = torch.tensor([[end] for end in ends] if spec.directed else [ends, ends[::-1]])
    index = torch.cat([base.edge_index, part.edge_index + first, bridge], dim=1)
    x = node_rows(base)
    joined = Data(
        x=torch.cat([x, node_rows(part).to(x.dtype)]), edge_index=index, num_nodes=first + second
    )
    if spec.edges:
        rows = torch.cat([base.edge_attr, part.edge_attr.to(base.edge_attr.dtype)])
        if rows.size(0):
            rows = torch.cat([rows, rows[[like] * bridge.size(1)]])
        else:
            joined.edge_index = index[:, :0]
        joined.edge_attr = rows
        if spec.has_edge_types:
            joined.edge_type = joined.edge_attr.reshape(-1)
    return joined


def join_each(spec: GraphSpec, bases: Sequence[Data], part: Data, seed: int = 0) -> list[Data]:
    """Join a part to each graph, by one edge between random nodes.

    The same seed joins every part of a size at the same nodes.
    """
    return completed_each(side_by_side(spec, bases, part, seed), spec)


def side_by_side(spec: GraphSpec, bases: Sequence[Data], part: Data, seed: int = 0) -> list[Data]:
    """The same with derived columns as they were, for many that are completed together."""
    joined, size = [], node_count(part)
    for number, base in enumerate(bases):
        at, place, like = _drawn(seed, number, node_count(base), _alike(spec, base, part))
        joined.append(_joined(spec, base, part, at, int(place * size), like))
    return joined


# Many parts are joined to the same graphs, and to make a generator takes as long as to join.
@lru_cache(4096)
def _drawn(seed: int, number: int, nodes: int, edges: int) -> tuple[int, float, int]:
    """Node of a graph, place in the part, and edge that the new one is like."""
    rng = np.random.default_rng([seed, number])
    return int(rng.integers(nodes)), float(rng.random()), int(rng.integers(edges or 1))


def flip_rate(
    classifier: GraphClassifier, part: Data, graphs: Sequence[Data], target: int, seed: int = 0
) -> float:
    """Share of graphs that the model assigns to the class once a part is attached to them.

    The control of faithfulness: an explanation should turn graphs of other classes into its own, a
    random graph of the same size should not. Graphs that are of the class already are left out; NaN
    if none is left. The same seed attaches at the same places.
    """
    before = classifier.score_data(list(graphs)).logits.argmax(1)
    others = [
        graph for graph, found in zip(graphs, before.tolist(), strict=True) if found != target
    ]
    if not others:
        return float("nan")
    joined = classifier.score_data(join_each(classifier.spec, others, part, seed)).logits
    # What joining has made impossible has no class: NaN is no flip.
    won = (joined.argmax(1) == target) & ~joined.isnan().any(1)
    return float(won.double().mean())
