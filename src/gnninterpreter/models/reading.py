"""Telling a model's task from its outputs and from the labels of the data, and saying it.

Nothing is guessed silently: where outputs fit two readings, the more careful one is taken, and a
note says so and how to settle it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.errors import ModelError, SpecError
from gnninterpreter.models.outputs import OutputKind, OutputReader
from gnninterpreter.models.task import Task
from gnninterpreter.spec import Labels

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
