"""Class statistics of a trained classifier over its training part, as the paper takes its means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from gnninterpreter import datasets
from gnninterpreter.datasets._storage import below, pack_tensors, read_tensors, write_tensors
from gnninterpreter.datasets.splits import Split
from gnninterpreter.errors import CheckpointError, DataError
from gnninterpreter.files import read_json
from gnninterpreter.models.architectures import rebuild
from gnninterpreter.models.bundle import STATISTICS
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec

MODEL = "model."


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
