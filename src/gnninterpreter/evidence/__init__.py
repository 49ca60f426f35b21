"""What judges explanations: figures from discrete graphs and the native model, and the verdict."""

from gnninterpreter.evidence.joining import ClassCounts, class_counts, flip_rate, join
from gnninterpreter.evidence.random_graphs import (
    gabriel_edges,
    gilbert_edges,
    random_baseline,
    random_features,
    random_of_size,
)

__all__ = [
    "ClassCounts",
    "class_counts",
    "flip_rate",
    "gabriel_edges",
    "gilbert_edges",
    "join",
    "random_baseline",
    "random_features",
    "random_of_size",
]
