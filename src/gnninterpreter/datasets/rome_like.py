"""Stand-ins for the Rome graphs: sparse connected graphs with their sizes and densities."""

from __future__ import annotations

import numpy as np

from gnninterpreter.datasets.rome import BaseGraph

# Measured on the 11,534 Rome graphs: numbers of nodes at every twentieth quantile, ...
SIZE_QUANTILES = (
    10, 14, 17, 22, 29, 35, 37, 39, 40, 43, 47, 53, 58, 62, 68, 74, 79, 86, 92, 96, 100
)  # fmt: skip
# ... and mean and standard deviation of edges per node for graphs of these sizes.
DENSITY_SIZES = (14, 24, 35, 44, 55, 64, 75, 84, 95)
DENSITY_MEANS = (1.183, 1.202, 1.259, 1.317, 1.331, 1.340, 1.337, 1.350, 1.352)
DENSITY_STDS = (0.185, 0.139, 0.114, 0.114, 0.104, 0.100, 0.084, 0.082, 0.077)


def synthetic_graph(rng: np.random.Generator) -> BaseGraph:
    """Draw a connected graph: a random recursive tree with random edges on top."""
    levels = np.linspace(0.0, 1.0, len(SIZE_QUANTILES))
    size = round(float(np.interp(rng.random(), levels, SIZE_QUANTILES)))
    mean = float(np.interp(size, DENSITY_SIZES, DENSITY_MEANS))
    std = float(np.interp(size, DENSITY_SIZES, DENSITY_STDS))
    count = max(size - 1, round(size * float(rng.normal(mean, std))))
    order = rng.permutation(size).tolist()
    parents = (rng.random(size - 1) * np.arange(1, size)).astype(int).tolist()
    edges = {_pair(order[i + 1], order[parent]) for i, parent in enumerate(parents)}
    while len(edges) < count:
        for i, j in rng.integers(size, size=(count - len(edges), 2)).tolist():
            if i != j:
                edges.add(_pair(i, j))
    return BaseGraph(size, tuple(sorted(edges)))


def _pair(i: int, j: int) -> tuple[int, int]:
    return (min(i, j), max(i, j))
