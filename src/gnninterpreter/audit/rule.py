"""The rule of a data set, which tells the class of a graph without a model, where there is one.

Some rules define the classes (Motif's looks for the motif), others are rules of thumb: MUTAG's only
agrees with most of the labels. What contradicts a rule of thumb is never more than a hint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.datasets import NAMES, dataset_class
from gnninterpreter.models import Bundle

__all__ = ["Oracle", "is_rule_of_thumb", "rule_agreement", "rule_of"]

Oracle = Callable[[Data], int]


def rule_of(model: Any, dataset: Any = None) -> Oracle | None:
    """Return the rule that gives a graph its class; None where there is none.

    Args:
        model: A bundled model knows the data set it was trained on, and so its rule.
        dataset: A data set with an ``oracle`` has the rule itself.
    """
    own: Oracle | None = getattr(_holder(model, dataset), "oracle", None)
    return own


def is_rule_of_thumb(model: Any, dataset: Any = None) -> bool:
    """Whether the rule of `rule_of` is one of thumb: the data set's ``rule_of_thumb`` says so."""
    return bool(getattr(_holder(model, dataset), "rule_of_thumb", False))


def rule_agreement(rule: Callable[[Data], int | None], graphs: list[Data]) -> float | None:
    """Share of labeled graphs whose label is what the rule says; None without labeled graphs."""
    labeled = [graph for graph in graphs if graph.get("y") is not None]
    if not labeled:
        return None
    return sum(rule(graph) == int(graph.y) for graph in labeled) / len(labeled)


def _holder(model: Any, dataset: Any) -> Any:
    """What has the rule: the data set, or that of a bundled model."""
    if getattr(dataset, "oracle", None) is None and isinstance(model, Bundle):
        return dataset_class(model.dataset_name) if model.dataset_name in NAMES else None
    return dataset
