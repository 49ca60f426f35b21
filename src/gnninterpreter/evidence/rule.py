"""The rule of a data set: what says the class of any graph, where somebody knows how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.datasets import NAMES, dataset_class
from gnninterpreter.models import Bundle


@dataclass(frozen=True)
class Rule:
    """Says the class of a graph.

    Args:
        oracle: Gives the index of the class.
        of_thumb: Whether it is often right and not always.
    """

    oracle: Callable[[Data], int]
    of_thumb: bool = False

    @property
    def name(self) -> str:
        """What to call it; a rule of thumb is never more than that."""
        return "rule of thumb" if self.of_thumb else "rule of the data set"


def rule_of(model: Any, dataset: Any = None) -> Rule | None:
    """Return the rule that gives a graph its class; None where there is none.

    Args:
        model: A bundled model knows the data set it was trained on, and so its rule.
        dataset: A data set with an ``oracle`` has the rule itself; its ``rule_of_thumb`` says
            whether that is always right.
    """
    source = dataset
    if getattr(source, "oracle", None) is None and isinstance(model, Bundle):
        source = dataset_class(model.dataset_name) if model.dataset_name in NAMES else None
    oracle = getattr(source, "oracle", None)
    return None if oracle is None else Rule(oracle, bool(getattr(source, "rule_of_thumb", False)))
