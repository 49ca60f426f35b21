"""What a trained model is like: scores by cross-validation, and statistics of its classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnninterpreter import datasets
from gnninterpreter.datasets._storage import below, pack_tensors, read_tensors, write_tensors
from gnninterpreter.datasets.splits import Split, folds
from gnninterpreter.errors import CheckpointError, DataError, ModelError
from gnninterpreter.files import read_json
from gnninterpreter.models.architectures import rebuild
from gnninterpreter.models.bundle import STATISTICS
from gnninterpreter.models.scores import ClassificationScores
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec
from gnninterpreter.training.batching import GraphStore, outputs_of
from gnninterpreter.training.trainer import TrainingConfig, train

MODEL = "model."


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
    store = GraphStore(dataset, use_edge_attr="edge_dim" in config.model)
    labels = store.y
    parts = folds(labels, count, config.seed)
    predictions = torch.empty_like(labels)
    for index, held_out in enumerate(parts):
        chooser = parts[(index + 1) % count]
        left = (held_out, chooser) if config.keep == "best" else (held_out,)
        rest = [part for part in parts if not any(part is one for one in left)]
        split = Split(torch.cat(rest).sort().values, chooser, held_out)
        model = train(dataset, config, device=device, split=split).model
        with torch.no_grad():
            predictions[held_out] = outputs_of(model, store.batch(held_out)).argmax(1)
        if callback is not None:
            callback(index + 1, count)
    return ClassificationScores.of(predictions, labels, int(config.model["num_classes"]))


def training_statistics(
    model: nn.Module, dataset: Any, spec: GraphSpec, split: Split
) -> ClassStatistics:
    """What each class looks like to a model, over the graphs that it learned from.

    Args:
        model: The classifier.
        dataset: All graphs, with their labels.
        spec: The graphs the model takes.
        split: Which of them it was trained on.
    """
    graphs = [dataset[index] for index in split.train.tolist()]
    return ClassStatistics.from_dataset(model, graphs, spec)


def refresh_statistics(path: str | Path, root: str | Path | None = None) -> Path:
    """Compute the class statistics of a stored bundle anew, without training.

    The weights stay as they are. The data set is made again, checked against the fingerprint that
    the bundle keeps, and split by the seed that it was trained with.

    Args:
        path: Either file of a bundle of one of this package's data sets.
        root: Folder for the data.

    Returns:
        The file that was written, that with the tensors.

    Raises:
        CheckpointError: If the files are no bundle.
        DataError: If the data is not what the model was trained on.
    """
    described, stored = Path(path).with_suffix(".json"), Path(path).with_suffix(".safetensors")
    try:
        description = read_json(described)
        tensors, header = read_tensors(stored)
        training, name = description["training"], description["dataset"]
        seed, fingerprint = int(training["seed"]), training["data"]["fingerprint"]
        model = rebuild(description["model"], below(tensors, MODEL))
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(
            f"path must name a bundle that 'gnninterpreter train' wrote (got {path}: {error})"
        ) from error
    dataset = datasets.load(name, root)
    if dataset.fingerprint != fingerprint:
        raise DataError(
            f"the data set '{name}' here is not the one that {described} was trained on; "
            "name the folder with the files it is made from in GNNINTERPRETER_DATA"
        )
    found = training_statistics(model.eval(), dataset, dataset.spec, dataset.split(seed=seed))
    tensors = {key: value for key, value in tensors.items() if key.startswith(MODEL)}
    write_tensors(stored, {**tensors, STATISTICS: pack_tensors(found.tensors())}, header)
    return stored
