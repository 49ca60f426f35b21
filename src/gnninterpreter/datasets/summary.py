"""A data set in one row: the figures its paper publishes, counted from the graphs themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.datasets.base import ExplainableDataset


def summarize(dataset: ExplainableDataset, *, oracle_graphs: int | None = None) -> dict[str, Any]:
    """Count what a table of data sets shows, as plain JSON values.

    The oracle is asked about ``oracle_graphs``, all when omitted; an undirected edge counts
    once.
    """
    nodes = dataset.slices["x"].diff().double().mean()
    edges = dataset.slices["edge_index"].diff().double().mean()
    asked = len(dataset) if oracle_graphs is None else min(oracle_graphs, len(dataset))
    asked = asked if dataset.oracle is not None else 0
    graphs: Iterator[Data] = (dataset[index] for index in range(asked))
    agreeing = sum(dataset.oracle(graph) == int(graph.y) for graph in graphs)
    return {
        "name": dataset.name,
        "graphs": len(dataset),
        "mean_nodes": float(nodes),
        "mean_edges": float(edges) / (1 if dataset.spec.directed else 2),
        "classes": dict(zip(dataset.class_names, _counts(dataset), strict=True)),
        "node_features": [name for block in dataset.spec.nodes for name in block.names],
        "edge_features": [name for block in dataset.spec.edges for name in block.names],
        "oracle_agreement": agreeing / asked if asked else None,
        "metadata": dict(dataset.metadata),
    }


def _counts(dataset: ExplainableDataset) -> list[int]:
    if not dataset.task:
        return list(dataset.y.bincount(minlength=dataset.num_classes).tolist())
    known = dataset.y == 1 if dataset.task == "multilabel" else ~dataset.y.isnan()
    return list(known.sum(0).tolist())
