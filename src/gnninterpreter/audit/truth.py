"""The ground truth of a graph, where somebody knows it: the rule of the data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch_geometric.data import Data

from gnninterpreter.datasets import NAMES, dataset_class
from gnninterpreter.datasets.motif import COLORS, MOTIFS
from gnninterpreter.models import Bundle

__all__ = ["Oracle", "ground_truth", "rule_agreement", "true_motifs"]

Oracle = Callable[[Data], int]


def ground_truth(model: Any, dataset: Any = None) -> Oracle | None:
    """Return the rule that gives a graph its true class; None where there is none.

    Args:
        model: A bundled model knows the data set it was trained on, and so its rule.
        dataset: A data set with an ``oracle`` has the rule itself.
    """
    own: Oracle | None = getattr(dataset, "oracle", None)
    if own is None and isinstance(model, Bundle) and model.dataset_name in NAMES:
        own = dataset_class(model.dataset_name).oracle
    return own


def rule_agreement(oracle: Oracle, graphs: list[Data]) -> float | None:
    """Share of labelled graphs whose label is what the rule says; None without labelled graphs."""
    labelled = [graph for graph in graphs if graph.get("y") is not None]
    if not labelled:
        return None
    return sum(oracle(graph) == int(graph.y) for graph in labelled) / len(labelled)


def true_motifs(dataset_name: str | None) -> dict[str, Data]:
    """The patterns that define classes of a data set, by class name; only Motif has such."""
    if dataset_name != "motif":
        return {}
    found = {}
    for name, edges in MOTIFS.items():
        size = 1 + max(j for _, j in edges)
        forth = torch.tensor(edges).t()
        found[name] = Data(
            x=torch.eye(len(COLORS))[:size],
            edge_index=torch.cat([forth, forth.flip(0)], dim=1),
            num_nodes=size,
        )
    return found
