"""What every method that explains a model has in common, ours or another: how it is called."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any, Protocol

import torch
import torch_geometric

from gnninterpreter._version import __version__
from gnninterpreter.explanation.explanation_set import ExplanationSet
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec


class Explainer(Protocol):
    """Anything that is called like `gnninterpreter.explain` and returns what it returns.

    That function is one; `gnninterpreter.baselines.XGNN` and ``Random`` are others.
    """

    def __call__(
        self,
        model: Any,
        dataset: Any = None,
        *,
        spec: GraphSpec | None = None,
        targets: Sequence[str | int] | str | int | None = None,
        seed: int = 0,
        class_statistics: ClassStatistics | None = None,
    ) -> ExplanationSet:
        """Explain the targets of a model, all of them when none are named."""
        ...


def versions() -> dict[str, str]:
    """What a run was made with, for its metadata."""
    return {
        "gnninterpreter": __version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "python": platform.python_version(),
    }
