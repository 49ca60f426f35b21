"""Real graphs with what the model says of them: read once, asked by everything that follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.datasets.base import StoredGraphs, sizes_of, taken
from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.matching import LIMIT, PatternIndex
from gnninterpreter.evidence.patterns.typed import Typed, typed_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.profile import CERTAIN
from gnninterpreter.objective.target import Target
from gnninterpreter.spec.data import node_count


class RealGraphs:
    """Real graphs with what the model says of them, read once for all targets.

    Args:
        classifier: The model.
        graphs: Real graphs; those without nodes are left out.
        limit: Most steps of the search for one pattern, as a mean over the graphs asked.
    """

    def __init__(
        self, classifier: GraphClassifier, graphs: Sequence[Data], limit: int = LIMIT
    ) -> None:
        """Score and type them."""
        self.classifier = classifier
        full = [number for number, size in enumerate(sizes_of(graphs)) if size]
        self.graphs = taken(graphs, full)
        if not full:
            raise DataError("graphs must hold at least one graph with a node (got none)")
        self.limit = limit
        self.scores = classifier.score_data(self.graphs)
        self.embedding = self.scores.embedding.double().cpu().numpy()
        self.assigned = self.scores.logits.argmax(dim=1).cpu().numpy()
        self.typed = typed_graphs(self.graphs, classifier.spec)

    def __len__(self) -> int:
        return len(self.graphs)

    @cached_property
    def index(self) -> PatternIndex:
        """All of them, made ready for patterns to be looked up."""
        return self.index_of(range(len(self)))

    def index_of(self, numbers: Sequence[int]) -> PatternIndex:
        """The same of some of them."""
        return PatternIndex([self.typed[i] for i in numbers], self.limit)

    def part(self, numbers: Sequence[int]) -> RealGraphs:
        """Some of them, without asking the model again."""
        found, at = copy(self), list(numbers)
        found.__dict__.pop("index", None)
        found.graphs, found.typed = taken(self.graphs, at), [self.typed[i] for i in at]
        found.scores = self.scores.select(at)
        found.embedding, found.assigned = self.embedding[at], self.assigned[at]
        return found

    def given(self, target: Target) -> np.ndarray:
        """What the model gives each graph for a target, between 0 and 1."""
        return np.asarray(target.given(self.scores).cpu().numpy())

    def mine(self, target: Target) -> np.ndarray:
        """Which graphs the model assigns to a target."""
        return np.asarray(target.assigned(self.scores).cpu().numpy())

    def of(self, target: Target) -> list[int]:
        """Numbers of the graphs that the model assigns to a target."""
        found: list[int] = np.flatnonzero(self.mine(target)).tolist()
        return found

    def others(self, target: Target) -> list[int]:
        """Numbers of those that it does not."""
        found: list[int] = np.flatnonzero(~self.mine(target)).tolist()
        return found

    def laid(self, pattern: Typed, target: Target) -> dict[int, tuple[int, ...]]:
        """Graphs of a target that hold a pattern, each with the nodes on which it lies there."""
        found, mine = self.index.match(pattern), self.mine(target)
        return {i: at for i, at in zip(found.where, found.places, strict=True) if mine[i]}

    def bar(self, target: Target) -> float:
        """What counts as certain: .99, or what half of the class gets where that is less.

        A core that asked for the top tenth of a model that is rarely sure would be nearly a whole
        graph again.
        """
        own = self.given(target)[self.mine(target)]
        return min(CERTAIN, float(np.median(own))) if own.size else CERTAIN


# Orders of stored graphs that are still in use.
_KNOWN: WeakKeyDictionary[StoredGraphs, tuple[np.ndarray, ...]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class InOrder(Sequence[Data]):
    """Graphs in an order of their own, whatever the order in which they came.

    Args:
        graphs: The graphs as they came.
        order: Their numbers, in order.
        nodes: How many nodes each has, in order.
        edges: The columns of its ``edge_index``.
        labels: The single class that its ``y`` says; None where it says none.
    """

    graphs: Sequence[Data]
    order: np.ndarray
    nodes: np.ndarray
    edges: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return taken(self.graphs, self.order[place].tolist())
        return self.graphs[int(self.order[place])]

    def where(self, kept: np.ndarray) -> InOrder:
        """Those at some places."""
        columns = (self.order, self.nodes, self.edges, self.labels)
        return InOrder(self.graphs, *(column[kept] for column in columns))


def in_order(graphs: Sequence[Data]) -> InOrder:
    """Put graphs in order, once: what is in order already stays as it is."""
    if isinstance(graphs, InOrder):
        return graphs
    columns = _KNOWN.get(graphs) if isinstance(graphs, StoredGraphs) else None
    if columns is None:
        fields = _side_by_side(graphs)
        sizes, links = (column.numpy() for column in fields[:2])
        order = np.lexsort((_looks(*fields[:4]), links, sizes))
        nodes, edges = sizes[order], links[order]
        columns = (order, nodes, edges, np.array(fields[4], dtype=object)[order])
    if isinstance(graphs, StoredGraphs):
        _KNOWN[graphs] = columns
    return InOrder(graphs, *columns)


def chosen(graphs: Sequence[Data], most: int, seed: int = 0, evenly: bool = True) -> Sequence[Data]:
    """At most so many graphs, as many of each class as of any other where there are enough.

    The order in which they come has no say: what follows is the same for a data set in another.

    Args:
        graphs: The graphs; those that say no single class in ``y`` count as one more class.
        most: How many at most.
        seed: The same seed draws the same ones.
        evenly: Whether classes count the same; without it they keep their shares.

    Returns:
        The graphs in random order, so that the first ones stand for all.
    """
    rng = np.random.default_rng(seed)
    graphs = in_order(graphs)
    if len(graphs) <= most:
        return taken(graphs.graphs, graphs.order[rng.permutation(len(graphs))].tolist())
    groups: dict[float | None, list[int]] = {}
    for number, label in enumerate(graphs.labels.tolist()):
        groups.setdefault(label if evenly else None, []).append(number)
    left, kept = most, []
    for place, members in enumerate(sorted(groups.values(), key=len)):
        # Small classes leave their room to the larger ones.
        drawn = some(members, left // (len(groups) - place), rng)
        kept += drawn
        left -= len(drawn)
    return taken(graphs.graphs, graphs.order[rng.permutation(kept)].tolist())


def _side_by_side(
    graphs: Sequence[Data],
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, list[float | None]]:
    """Nodes and edges of each graph, all edges, all node features, and the class of each."""
    if isinstance(graphs, StoredGraphs):
        x, y = (graphs.tensors.get(key) for key in ("x", "y"))
        links = graphs.tensors["edge_index"]
        sizes, edges = (graphs.slices[key].diff() for key in ("x", "edge_index"))
        labels = [math.nan] * len(graphs)
        if y is not None and y.numel() == len(graphs):
            labels = y.double().flatten().tolist()
    else:
        sizes = torch.tensor([node_count(graph) for graph in graphs], dtype=torch.long)
        each = [graph.edge_index.cpu() for graph in graphs]
        edges = torch.tensor([link.size(1) for link in each], dtype=torch.long)
        links = torch.cat(each, dim=1) if each else torch.zeros(2, 0, dtype=torch.long)
        rows = [graph.get("x") for graph in graphs if node_count(graph)]
        known = rows and all(row is not None and row.numel() for row in rows)
        x = torch.cat([row.cpu().double().view(row.size(0), -1) for row in rows]) if known else None
        said = [graph.get("y") for graph in graphs]
        labels = [float(y) if torch.is_tensor(y) and y.numel() == 1 else math.nan for y in said]
    return sizes, edges, links, x, [label if label.is_integer() else None for label in labels]


def _looks(sizes: Tensor, edges: Tensor, links: Tensor, x: Tensor | None) -> np.ndarray:
    """A number by which graphs of one size are put in order, whatever the order of their nodes."""
    source, target = links + (sizes.cumsum(0) - sizes).repeat_interleave(edges)
    looks = torch.ones(int(sizes.sum()), dtype=torch.double)
    if x is not None and x.numel():
        wide = x.double().view(x.size(0), -1)
        looks = looks + wide @ torch.arange(2.0, wide.size(1) + 2, dtype=torch.double).sqrt()
    # Each round mixes in the neighbours; sines keep numbers small and unlike each other.
    for _ in range(4):
        around = torch.zeros_like(looks).index_add_(0, target, (7.3 * looks).sin()[source])
        looks = (3.1 * looks + 11.7 * around).sin()
    owner = torch.arange(len(sizes)).repeat_interleave(sizes)
    total = torch.zeros(len(sizes), dtype=torch.double).index_add_(0, owner, looks)
    return np.asarray(total.numpy().round(6))


def some(numbers: Sequence[int], most: int, rng: np.random.Generator) -> list[int]:
    """At most so many of them, drawn at random."""
    if len(numbers) <= most:
        return [int(i) for i in numbers]
    return [int(numbers[i]) for i in sorted(rng.permutation(len(numbers))[:most].tolist())]
