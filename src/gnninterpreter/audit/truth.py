"""The true class of a graph, where somebody knows it: the rule of the data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.evidence import rule_of

__all__ = ["Oracle", "ground_truth", "rule_agreement"]

Oracle = Callable[[Data], int]


def ground_truth(model: Any, dataset: Any = None) -> Oracle | None:
    """Return the rule that gives a graph its true class; None where there is none.

    Args:
        model: A bundled model knows the data set it was trained on, and so its rule.
        dataset: A data set with an ``oracle`` has the rule itself.
    """
    rule = rule_of(model, dataset)
    return None if rule is None else rule.oracle


def rule_agreement(truth: Callable[[Data], int | None], graphs: list[Data]) -> float | None:
    """Share of labelled graphs whose label is what the rule says; None without labelled graphs."""
    labelled = [graph for graph in graphs if graph.get("y") is not None]
    if not labelled:
        return None
    return sum(truth(graph) == int(graph.y) for graph in labelled) / len(labelled)
