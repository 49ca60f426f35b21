"""Real graphs with what the model says of them: read once, asked by everything that follows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.matching import PatternIndex
from gnninterpreter.evidence.patterns.typed import typed_graphs
from gnninterpreter.models.classifier import GraphClassifier

__all__ = ["CERTAIN", "RealGraphs", "some"]

CERTAIN = 0.99


class RealGraphs:
    """Real graphs with what the model says of them, read once for all classes.

    Args:
        classifier: The model.
        graphs: Real graphs; those without nodes are left out.
    """

    def __init__(self, classifier: GraphClassifier, graphs: Sequence[Data]) -> None:
        """Score, type and index them."""
        self.classifier = classifier
        self.graphs = [graph for graph in graphs if graph.num_nodes]
        if not self.graphs:
            raise DataError("graphs must hold at least one graph with a node (got none)")
        scores = classifier.score_data(self.graphs)
        self.probabilities = scores.probabilities.double().cpu().numpy()
        self.embedding = scores.embedding.double().cpu().numpy()
        self.assigned = self.probabilities.argmax(axis=1)
        self.typed = typed_graphs(self.graphs, classifier.spec)
        self.index = PatternIndex(self.typed)

    def __len__(self) -> int:
        return len(self.graphs)

    def of(self, target: int) -> list[int]:
        """Numbers of the graphs that the model assigns to a class."""
        return [int(i) for i in np.flatnonzero(self.assigned == target)]

    def bar(self, target: int) -> float:
        """What counts as certain: .99, or what half of the class gets where that is less.

        A core that asked for the top tenth of a model that is rarely sure would be nearly a whole
        graph again.
        """
        own = self.probabilities[self.assigned == target, target]
        return min(CERTAIN, float(np.median(own))) if own.size else CERTAIN


def some(numbers: Sequence[int], most: int, rng: np.random.Generator) -> list[int]:
    """At most so many of them, drawn at random."""
    if len(numbers) <= most:
        return [int(i) for i in numbers]
    return [int(numbers[i]) for i in sorted(rng.permutation(len(numbers))[:most].tolist())]
