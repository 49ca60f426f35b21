"""Maximum mean discrepancy between two sets of graphs, by degree, clustering and spectrum.

``MMD^2 = E k(x, x') + E k(y, y') - 2 E k(x, y)`` with ``k = exp(-EMD^2 / 2 sigma^2)``, where EMD is
the earth mover's distance between two histograms (settings as in D4Explainer, Chen et al., 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import networkx as nx
import numpy as np
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from gnninterpreter.errors import DataError

Histogram = np.ndarray[Any, Any]

CLUSTERING_BINS, SPECTRUM_BINS = 100, 200


def mmd(
    ones: Sequence[Histogram], others: Sequence[Histogram], sigma: float, width: float = 1.0
) -> float:
    """Squared discrepancy between two sets of histograms; 0 for equal sets."""
    if not ones or not others:
        raise DataError("a discrepancy needs at least one graph in each of the two sets")

    size = max(len(histogram) for histogram in (*ones, *others))
    a, b = (np.stack([_cumulated(h, size) for h in part]) for part in (ones, others))

    def similar(x: Histogram, y: Histogram) -> float:
        # The earth mover's distance on a line is the area between the cumulated histograms.
        distances = np.stack([np.abs(row - y).sum(1) for row in x]) * width
        return float(np.exp(-np.square(distances) / (2 * sigma**2)).mean())

    return similar(a, a) + similar(b, b) - 2 * similar(a, b)


def degree_mmd(graphs: Sequence[Data], reference: Sequence[Data]) -> float:
    """Discrepancy of the histograms of degrees (sigma 1)."""
    return mmd(_each(graphs, _degrees), _each(reference, _degrees), sigma=1.0)


def clustering_mmd(graphs: Sequence[Data], reference: Sequence[Data]) -> float:
    """Discrepancy of the clustering coefficients, 100 bins on [0, 1] (sigma 0.1)."""
    ones, others = _each(graphs, _clustering), _each(reference, _clustering)
    return mmd(ones, others, sigma=0.1, width=1 / CLUSTERING_BINS)


def spectrum_mmd(graphs: Sequence[Data], reference: Sequence[Data]) -> float:
    """Discrepancy of the normalised Laplacian spectra, 200 bins on [0, 2] (sigma 1)."""
    return mmd(_each(graphs, _spectrum), _each(reference, _spectrum), sigma=1.0)


def _cumulated(histogram: Histogram, size: int) -> Histogram:
    padded = np.pad(histogram, (0, size - len(histogram)))
    total: Histogram = np.cumsum(padded / max(histogram.sum(), 1e-12))
    return total


def _each(graphs: Sequence[Data], describe: Callable[[nx.Graph], Histogram]) -> list[Histogram]:
    return [describe(nx.Graph(to_networkx(graph))) for graph in graphs]


def _degrees(graph: nx.Graph) -> Histogram:
    counts: Histogram = np.asarray(nx.degree_histogram(graph), dtype=np.float64)
    return counts


def _clustering(graph: nx.Graph) -> Histogram:
    values = list(nx.clustering(graph).values())
    return np.histogram(values, bins=CLUSTERING_BINS, range=(0.0, 1.0))[0].astype(np.float64)


def _spectrum(graph: nx.Graph) -> Histogram:
    adjacent = nx.to_numpy_array(graph)
    degree = adjacent.sum(1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1e-12)), 0.0)
    laplacian = np.diag((degree > 0).astype(float)) - scale[:, None] * adjacent * scale[None]
    values = np.clip(np.linalg.eigvalsh(laplacian), 0.0, 2.0)
    return np.histogram(values, bins=SPECTRUM_BINS, range=(0.0, 2.0))[0].astype(np.float64)
