"""Cross-validation: every graph is scored by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.datasets.splits import Split, folds
from gnninterpreter.errors import ModelError
from gnninterpreter.models.scores import ClassificationScores
from gnninterpreter.training.batching import GraphStore
from gnninterpreter.training.trainer import TrainingConfig, train


def cross_validate(
    dataset: Any,
    config: TrainingConfig,
    count: int = 10,
    *,
    device: str | torch.device = "cpu",
    callback: Callable[[int, int], None] | None = None,
) -> ClassificationScores:
    """Train ``count`` models, each on all parts of the data but one, and score it on that one.

    Args:
        dataset: Labeled graphs.
        config: How to train each model. With ``keep="best"`` the part after the one held out
            chooses the state; with ``"last"`` it is trained on as well.
        count: Number of parts.
        device: ``"cpu"`` or a CUDA device.
        callback: Called with the number of models trained and ``count`` after each.

    Returns:
        Scores over all graphs together, each predicted by the model that has not seen it.

    Raises:
        ModelError: If ``count`` leaves nothing to train on.
    """
    least = 3 if config.keep == "best" else 2
    if count < least:
        raise ModelError(f"count must be at least {least} with keep={config.keep!r} (got {count})")
    labels = GraphStore(dataset, use_edge_attr=False).y
    parts = folds(labels, count, config.seed)
    predictions = torch.empty_like(labels)
    for index, part in enumerate(parts):
        predictions[part] = _fold(dataset, config, parts, device, index)
        if callback is not None:
            callback(index + 1, count)
    return ClassificationScores.of(predictions, labels, int(config.model["num_classes"]))


def _fold(
    dataset: Any,
    config: TrainingConfig,
    parts: Sequence[Tensor],
    device: str | torch.device,
    index: int,
) -> Tensor:
    """Train on all parts but one and predict that one."""
    held_out, chooser = parts[index], parts[(index + 1) % len(parts)]
    rest = [part for part in parts if part is not held_out]
    if config.keep == "best":
        rest = [part for part in rest if part is not chooser]
    split = Split(torch.cat(rest).sort().values, chooser, held_out)
    result = train(dataset, config, device=device, split=split)
    store = GraphStore(dataset, use_edge_attr="edge_dim" in config.model)
    with torch.no_grad():
        predicted: Tensor = store.batch(held_out).logits(result.model).argmax(1)
    return predicted
