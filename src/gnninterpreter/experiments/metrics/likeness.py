"""How far a graph could be one of its class: validation score, size and density.

The validation score follows GIN-Graph (Yue et al., 2024): the geometric mean of class probability,
likeness of the embedding and likeness of the degree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch_geometric.data import Data

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec.data import node_count


@dataclass(frozen=True)
class Likeness:
    """A graph beside the real graphs of its class.

    ``similarity`` is the cosine to the class mean, cut at 0; ``degree`` the likeness of its edges
    per node.
    """

    probability: float
    similarity: float
    degree: float
    score: float


def validation_score(probability: float, similarity: float, degree: float) -> float:
    """Geometric mean of the three, ``(s p d)^(1/3)``; the similarity is cut to [0, 1].

    Example:
        >>> round(validation_score(1.0, 0.5, 0.25), 3)
        0.5
    """
    return float((min(max(similarity, 0.0), 1.0) * probability * degree) ** (1 / 3))


def degree_likeness(degree: float, mean: float, std: float) -> float:
    """``exp(-(k - mean)^2 / (2 std^2))``; 0 or 1 where all graphs of the class agree."""
    if std <= 0:
        return float(math.isclose(degree, mean, rel_tol=1e-6))
    return math.exp(-((degree - mean) ** 2) / (2 * std**2))


def granularity(nodes: int, mean_nodes: float) -> float:
    """``1 - min(1, n / mean n)``."""
    return 1.0 - min(1.0, nodes / mean_nodes) if mean_nodes > 0 else 0.0


def density(graph: Data) -> float:
    """Share of ordered pairs of nodes that are joined; an undirected edge joins both."""
    nodes = node_count(graph)
    return graph.num_edges / (nodes * (nodes - 1)) if nodes > 1 else 0.0


def likeness(
    classifier: GraphClassifier, statistics: ClassStatistics, graph: Data, target: int
) -> Likeness:
    """Compare a graph with the real graphs of a class; one without edges is like none of them."""
    if not graph.num_edges:
        return Likeness(0.0, 0.0, 0.0, 0.0)
    nodes = int(graph.edge_index.unique().numel())
    edges = graph.edge_index.size(1) / classifier.spec.ways
    scores = classifier.score_data([graph])
    probability = float(scores.probabilities[0, target])
    mean = statistics.mean_embedding[target].to(scores.embedding)
    own = scores.embedding[0]
    cosine = float((own @ mean) / (own.norm() * mean.norm()).clamp_min(1e-12))
    usual, spread = statistics.edges_per_node[target], statistics.edges_per_node_std[target]
    degree = degree_likeness(edges / nodes if nodes else 0.0, float(usual), float(spread))
    score = validation_score(probability, cosine, degree)
    return Likeness(probability, min(max(cosine, 0.0), 1.0), degree, score)
