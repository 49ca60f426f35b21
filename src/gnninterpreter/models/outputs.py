"""How what a model returns is read: as logits or values, of which task, and why.

The task is told from the outputs and from the labels of the data. Nothing is guessed silently:
where outputs fit two readings, the more careful one is taken, and a note says so and how to settle
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.errors import ModelError, SpecError
from gnninterpreter.models.task import Task
from gnninterpreter.spec import Labels

KEYS = ("logits", "logit", "out", "output", "scores", "pred", "prediction", "y_hat", "y", "probs")


class OutputKind(str, Enum):
    """How the numbers a model returns are to be read."""

    LOGITS = "logits"
    LOG_PROBABILITIES = "log-probabilities"
    PROBABILITIES = "probabilities"


TOLERANCE = 1e-3
MODES = {
    "binary_classification": Task.BINARY,
    "multiclass_classification": Task.MULTICLASS,
    "regression": Task.REGRESSION,
}
RETURNED = {
    "raw": OutputKind.LOGITS,
    "probs": OutputKind.PROBABILITIES,
    "log_probs": OutputKind.LOG_PROBABILITIES,
}
BOUNDED = "bounded"
SETTLE = "pass task= to settle it"


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


def parse_task(task: Any) -> tuple[Task | None, OutputKind | None]:
    """Read a word, a `Task` or PyG's ``ModelConfig``: task and kind, None for what is not said."""
    mode, level = getattr(task, "mode", None), getattr(task, "task_level", None)
    if mode is not None and level is not None:
        level = getattr(level, "value", level)
        if level != "graph":
            raise ModelError(f"task_level {level!r} is not supported yet; only 'graph' is")
        returned = getattr(task, "return_type", None)
        kind = RETURNED.get(str(getattr(returned, "value", returned)))
        return MODES[getattr(mode, "value", mode)], kind
    if task is None or (isinstance(task, str) and task == "auto"):
        return None, None
    words = {str(known): known for known in Task} | MODES
    # A spec keeps a reading as two words.
    word, _, kind_word = str(task).partition(", ")
    if word not in words:
        names = ", ".join(repr(str(known)) for known in Task)
        raise SpecError(f"task must be 'auto', {names} or a ModelConfig (got {task!r})")
    return words[word], OutputKind(kind_word) if kind_word else None


def read_outputs(
    scores: Tensor,
    made_by: str = "other",
    labels: Labels | None = None,
    task: Any = "auto",
    more: Callable[[], Tensor] | None = None,
) -> OutputReader:
    """Find out how outputs on some graphs, [G, C], are to be read.

    ``made_by`` is as `OperationRecorder.kind` says it, and ``task`` as `parse_task` takes it;
    ``more`` gives outputs on many more graphs, random and extreme ones among them.
    """
    if not torch.isfinite(scores).all():
        raise ModelError(
            "the model returned NaN or infinite scores on ordinary graphs; check its weights, "
            "and that it was trained on features like those of the spec"
        )
    wanted, kind = parse_task(task)
    count = scores.size(1)
    notes: list[str] = []
    if labels is not None and labels.width not in (1, count):
        notes.append(f"{labels}, but the model returns {count}: labels are not used")
        labels = None
    found, looked_at = (kind.value, 0) if kind else _kind(scores, made_by, more)
    numbered = labels is not None and labels.width == 1 < count and labels.classes
    if numbered and looked_at and wanted is None:
        # Labels that are numbers of classes say more than a range that outputs may keep by chance.
        found, looked_at = OutputKind.LOGITS.value, 0
        notes.append(
            f"outputs lie in [0, 1] and do not add up to one: read as logits of {count} classes, "
            f"whose numbers the labels are; {SETTLE}"
        )
    if wanted is None:
        wanted = _task(found, count, labels, notes)
        reason = "no labels to go by" if labels is None else str(labels)
    else:
        wanted, reason, notes = _fitting(wanted, count, hasattr(task, "mode")), "as asked for", []
    if wanted is Task.REGRESSION:
        return OutputReader(OutputKind.LOGITS, wanted, count, reason, tuple(notes))
    if looked_at:
        notes.append(
            f"outputs lie in [0, 1] on {looked_at} graphs; read as probabilities; if they are "
            "logits, pass task=ModelConfig(mode, 'graph', 'raw') to settle it"
        )
    kind = OutputKind.PROBABILITIES if found == BOUNDED else OutputKind(found)
    return OutputReader(kind, wanted, count, reason, tuple(notes))


def _kind(scores: Tensor, made_by: str, more: Callable[[], Tensor] | None) -> tuple[str, int]:
    """The `OutputKind`, or BOUNDED, and on how many graphs it was seen if nothing proves it."""
    if scores.size(1) > 1:
        if _within(scores) and bool((scores.sum(1) - 1).abs().max() < TOLERANCE):
            return OutputKind.PROBABILITIES.value, 0
        if bool((scores.exp().sum(1) - 1).abs().max() < TOLERANCE):
            return OutputKind.LOG_PROBABILITIES.value, 0
    if made_by == "sigmoid":
        return BOUNDED, 0
    if made_by == "linear" or not _within(scores):
        return OutputKind.LOGITS.value, 0
    if more is not None:
        others = more()
        scores = torch.cat([scores, others[torch.isfinite(others).all(1)]])
    return (BOUNDED, scores.size(0)) if _within(scores) else (OutputKind.LOGITS.value, 0)


def _task(found: str, count: int, labels: Labels | None, notes: list[str]) -> Task:
    if count == 1:
        if labels is None:
            notes.append(f"one output and no labels: read as yes or no, not as a value; {SETTLE}")
            return Task.BINARY
        two = labels.whole and len(set(labels.known.tolist())) <= 2
        return Task.BINARY if two else Task.REGRESSION
    if found in (OutputKind.PROBABILITIES.value, OutputKind.LOG_PROBABILITIES.value):
        return Task.MULTICLASS
    if labels is not None and labels.width == count:
        if not labels.flags:
            return Task.REGRESSION
        if not labels.one_hot or found == BOUNDED:
            return Task.MULTILABEL
        notes.append(f"labels are one-hot: read as one class of {count}; {SETTLE}")
        return Task.MULTICLASS
    if labels is not None and not (labels.whole and (labels.integer or labels.known.max() < count)):
        notes.append(f"real-valued labels: {count} outputs read as values; {SETTLE}")
        return Task.REGRESSION
    if found == BOUNDED:
        one = labels is not None and labels.classes
        read = "each read as a label of its own"
        if one:
            read = "read in proportion to each other, since the labels are numbers of classes"
        notes.append(f"outputs lie in [0, 1] and do not add up to one: {read}; {SETTLE}")
        return Task.MULTICLASS if one else Task.MULTILABEL
    return Task.MULTICLASS


def _fitting(task: Task, count: int, from_config: bool) -> Task:
    if task is Task.BINARY and from_config and count > 1:
        # PyG reads each of several binary outputs by itself.
        return Task.MULTILABEL
    fits = {Task.BINARY: count <= 2, Task.MULTICLASS: count > 1}
    if not fits.get(task, True):
        raise ModelError(
            f"task={str(task)!r} does not fit a model that returns {count} "
            f"{'number' if count == 1 else 'numbers'} for each graph"
        )
    return task


def _within(scores: Tensor) -> bool:
    return bool(((scores >= 0) & (scores <= 1)).all())
