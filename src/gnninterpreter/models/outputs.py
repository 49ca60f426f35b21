"""From what a model returns to the logits or values that everything downstream reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.errors import ModelError
from gnninterpreter.models.task import Task

KEYS = ("logits", "logit", "out", "output", "scores", "pred", "prediction", "y_hat", "y", "probs")


class OutputKind(str, Enum):
    """How the numbers a model returns are to be read."""

    LOGITS = "logits"
    LOG_PROBABILITIES = "log-probabilities"
    PROBABILITIES = "probabilities"


@dataclass(frozen=True)
class OutputReader:
    """Turns the numbers of a model into one row for each graph: logits, or values.

    ``reason`` says why they are read like this, ``notes`` what may be otherwise.
    """

    kind: OutputKind
    task: Task
    outputs: int
    reason: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def columns(self) -> int:
        """Number of columns that come out: two for a binary model with one output."""
        return 2 if self._one_of_two else self.outputs

    @property
    def _one_of_two(self) -> bool:
        return self.task is Task.BINARY and self.outputs == 1

    def __call__(self, scores: Tensor) -> Tensor:
        """Return logits or values, [B, C], of what `find_scores` found."""
        if self.kind is OutputKind.PROBABILITIES and self.task is not Task.REGRESSION:
            tiny = torch.finfo(scores.dtype).tiny
            logs = scores.clamp_min(tiny).log()
            if self._one_of_two or self.task is Task.MULTILABEL:
                logs = logs - (1 - scores).clamp_min(tiny).log()
            scores = logs
        return torch.cat([torch.zeros_like(scores), scores], 1) if self._one_of_two else scores

    def __str__(self) -> str:
        count = self.outputs
        if self.task is Task.REGRESSION:
            return f"{'one value' if count == 1 else f'{count} values'} for each graph"
        if self._one_of_two:
            number = "probability" if self.kind is OutputKind.PROBABILITIES else "logit"
            return f"one {number} for each graph, read as that of the second of two classes"
        words = f"raw {self.kind.value}" if self.kind is OutputKind.LOGITS else self.kind.value
        return f"{words}, one for each label" if self.task is Task.MULTILABEL else words


def find_scores(output: Any, num_graphs: int, num_nodes: int = -1, num_edges: int = -1) -> Tensor:
    """Find the scores [B, C] in what a model returned, itself or inside a tuple or dict."""
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
    rows = {c.size(0) for c in _candidates(output) if isinstance(c, Tensor) and c.dim()}
    for part, number in (("node", num_nodes), ("edge", num_edges)):
        if number in rows:
            raise ModelError(
                f"the model returned {_shape(output)} for {num_graphs} graphs, one row for each of "
                f"their {number} {part}s: {part}-level models are not supported yet; explain a "
                "graph-level one, or pass forward= with a readout"
            )
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
