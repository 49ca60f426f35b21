"""The rule of a data set, which tells the class of a graph without a model, where there is one.

Some rules define the classes (Motif's looks for the motif), others are rules of thumb: MUTAG's only
agrees with most of the labels. What contradicts a rule of thumb is never more than a hint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.evidence import rule_of

Oracle = Callable[[Data], int]


def oracle_of(model: Any, dataset: Any = None) -> Oracle | None:
    """Return what gives a graph its class by rule; None where there is no rule."""
    rule = rule_of(model, dataset)
    return None if rule is None else rule.oracle


def rule_agreement(rule: Callable[[Data], int | None], graphs: list[Data]) -> float | None:
    """Share of labeled graphs whose label is what the rule says; None without labeled graphs."""
    labeled = [graph for graph in graphs if graph.get("y") is not None]
    if not labeled:
        return None
    return sum(rule(graph) == int(graph.y) for graph in labeled) / len(labeled)
