"""What a model's output means: logits, log-probabilities or probabilities, of two classes or more.

Everything downstream reads class scores as logits of shape [B, C]; this is where they become that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.errors import ModelError

__all__ = ["OutputKind", "OutputReader", "find_scores"]

KEYS = ("logits", "logit", "out", "output", "scores", "pred", "prediction", "y_hat", "y", "probs")
TOLERANCE = 1e-3


class OutputKind(str, Enum):
    """How the numbers a model returns are to be read."""

    LOGITS = "logits"
    LOG_PROBABILITIES = "log-probabilities"
    PROBABILITIES = "probabilities"


@dataclass(frozen=True)
class OutputReader:
    """Turns what the model returned into logits of shape [B, C].

    Args:
        kind: How the numbers are to be read.
        binary: Whether there is one number for each graph, the score of the second of two classes.
    """

    kind: OutputKind
    binary: bool

    @classmethod
    def infer(cls, output: Any, num_graphs: int) -> OutputReader:
        """Infer the reading from the model's output on some graphs.

        Raises:
            ModelError: If the output holds no scores for each graph, or they are not finite.
        """
        scores = find_scores(output, num_graphs)
        if not torch.isfinite(scores).all():
            raise ModelError(
                "the model returned NaN or infinite scores on ordinary graphs; check its weights, "
                "and that it was trained on features like those of the spec"
            )
        binary = scores.size(1) == 1
        within = bool((scores >= 0).all() and (scores <= 1).all())
        if binary:
            return cls(OutputKind.PROBABILITIES if within else OutputKind.LOGITS, True)
        if within and bool((scores.sum(1) - 1).abs().max() < TOLERANCE):
            return cls(OutputKind.PROBABILITIES, False)
        if bool((scores.exp().sum(1) - 1).abs().max() < TOLERANCE):
            return cls(OutputKind.LOG_PROBABILITIES, False)
        return cls(OutputKind.LOGITS, False)

    def __call__(self, output: Any, num_graphs: int) -> Tensor:
        """Return logits of shape [B, C]; C is 2 for a model with one number for each graph."""
        scores = find_scores(output, num_graphs)
        if self.kind is OutputKind.PROBABILITIES:
            tiny = torch.finfo(scores.dtype).tiny
            logs = scores.clamp_min(tiny).log()
            if self.binary:
                logs = logs - (1 - scores).clamp_min(tiny).log()
            scores = logs
        return torch.cat([torch.zeros_like(scores), scores], dim=1) if self.binary else scores

    def __str__(self) -> str:
        if not self.binary:
            return f"raw {self.kind.value}" if self.kind is OutputKind.LOGITS else self.kind.value
        number = "probability" if self.kind is OutputKind.PROBABILITIES else "logit"
        return f"one {number} for each graph, read as that of the second of two classes"


def find_scores(output: Any, num_graphs: int) -> Tensor:
    """Find the scores of shape [B, C] in what a model returned, itself or inside a tuple or dict.

    Raises:
        ModelError: If there are none.
    """
    for candidate in _candidates(output):
        if not isinstance(candidate, Tensor) or not candidate.is_floating_point():
            continue
        if num_graphs == 1 and candidate.dim() < 2:
            # A model that squeezes its output also squeezes away a batch of one.
            return candidate.reshape(1, -1)
        if candidate.dim() == 1 and candidate.size(0) == num_graphs:
            return candidate.unsqueeze(1)
        if candidate.dim() == 2 and candidate.size(0) == num_graphs:
            return candidate
    raise ModelError(
        f"the model returned {_shape(output)} for {num_graphs} graphs, where one row of class "
        f"scores for each graph was expected (shape [{num_graphs}, classes]); pass "
        "forward=lambda model, data: ... returning that"
    )


def _candidates(output: Any) -> list[Any]:
    if isinstance(output, Mapping):
        named = [output[key] for key in KEYS if key in output]
        return named + list(output.values())
    if isinstance(output, (tuple, list)):
        return list(output)
    if hasattr(output, "logits"):
        return [output.logits]
    return [output]


def _shape(output: Any) -> str:
    if isinstance(output, Tensor):
        return f"a tensor of shape {list(output.shape)}"
    return f"a {type(output).__name__}"
