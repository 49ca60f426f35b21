"""Trained classifiers with all that explaining them needs, so that no data has to be at hand.

A bundle is two files: ``NAME.safetensors`` with the weights and class statistics, ``NAME.json``
with how to build the model, what graphs it takes, how it was trained and how good it is. Nothing is
ever pickled.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from gnninterpreter.arguments import folded, path_of
from gnninterpreter.datasets._storage import (
    below,
    pack_tensors,
    read_tensors,
    unpack_tensors,
    write_tensors,
)
from gnninterpreter.errors import CheckpointError, GNNInterpreterError
from gnninterpreter.files import read_json, write_atomically
from gnninterpreter.models.architectures import rebuild
from gnninterpreter.models.scores import ModelScores, scores_from_json
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec

FORMAT = "gnninterpreter-model"
SCHEMA = 1
STATISTICS = "statistics"


@dataclass(frozen=True)
class Bundle:
    """A trained classifier, the graphs it takes, and what it makes of its training data.

    ``scores`` are by part of the data (``"test"``, ``"all"``, ...); ``training`` says how it was
    made (command, seed, settings, data fingerprint), as JSON values.

    Example:
        >>> bundle = load("shape")  # doctest: +SKIP
        >>> bundle.scores["test"].accuracy  # doctest: +SKIP
        0.98
    """

    model: nn.Module
    spec: GraphSpec
    statistics: ClassStatistics
    scores: Mapping[str, ModelScores]
    dataset_name: str
    name: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)

    def save(self, folder: str | Path, name: str | None = None) -> Path:
        """Write the two files of the bundle.

        Args:
            folder: Where to; it is created.
            name: Name of the files; the bundle's own when omitted.

        Returns:
            The path of the JSON file, which `load_bundle` takes.

        Raises:
            CheckpointError: If the model has no ``config`` to build it from again.
            OutputError: If the folder cannot be written.
        """
        config = getattr(self.model, "config", None)
        if not isinstance(config, Mapping):
            raise CheckpointError(
                f"a model of type {type(self.model).__name__} cannot be bundled, since it has no "
                "'config' to build it from again; use one of gnninterpreter.models.architectures"
            )
        name = name or self.name or self.dataset_name
        tensors = {f"model.{key}": value for key, value in self.model.state_dict().items()}
        tensors[STATISTICS] = pack_tensors(self.statistics.tensors())
        description = {
            "format": FORMAT,
            "schema": SCHEMA,
            "name": name,
            "dataset": self.dataset_name,
            "model": dict(config),
            "spec": self.spec.to_json(),
            "scores": {part: scores.to_json() for part, scores in self.scores.items()},
            "training": dict(self.training),
        }
        path = path_of("folder", folder) / f"{name}.json"
        # Weights first: a description is only there when what it describes is.
        write_tensors(path.with_suffix(".safetensors"), tensors, {"format": FORMAT, "name": name})
        return write_atomically(path, (json.dumps(description, indent=1) + "\n").encode())


def bundled_names() -> tuple[str, ...]:
    """Return the names of the classifiers that ship with the package."""
    found = (Path(entry.name) for entry in _package_data().iterdir())
    return tuple(sorted(path.stem for path in found if path.suffix == ".json"))


def load(name: str) -> Bundle:
    """Load a classifier that ships with the package, one of `bundled_names`."""
    if folded(name) not in bundled_names():
        if isinstance(name, str) and os.path.isfile(name):
            raise CheckpointError(
                f"{name} is a file, and the name of a bundled model was expected; load its weights "
                "into the class they were trained with, and pass that model (one that Bundle.save "
                "wrote comes back with gi.models.load_bundle)"
            )
        raise CheckpointError(
            f"there is no bundled model {name!r}; the names are {', '.join(bundled_names())}"
        )
    with resources.as_file(_package_data()) as folder:
        return load_bundle(folder / f"{folded(name)}.json")


def load_bundle(path: str | Path) -> Bundle:
    """Load a classifier that `Bundle.save` wrote.

    Args:
        path: Either of its two files.

    Raises:
        CheckpointError: If a file is missing, damaged, or no bundle of this package.
    """
    described = path_of("path", path, CheckpointError)
    if not described.name:
        raise CheckpointError(f"path must name a file of the bundle (got {path!r:.60})")
    described = described.with_suffix(".json")
    description = _read_description(described)
    tensors = _read_weights(described.with_suffix(".safetensors"))
    try:
        model = rebuild(description["model"], below(tensors, "model."))
        spec = GraphSpec.from_json(description["spec"])
        return Bundle(
            model=model.eval(),
            spec=spec,
            statistics=ClassStatistics.from_tensors(_statistics(tensors), spec),
            scores={
                part: scores_from_json(values) for part, values in description["scores"].items()
            },
            dataset_name=description["dataset"],
            name=description["name"],
            training=description["training"],
        )
    except GNNInterpreterError as error:
        raise CheckpointError(f"cannot load the model {described}: {error}") from error
    except KeyError as error:
        raise CheckpointError(
            f"cannot load the model {described}: it has no field {error}; train or fetch it again"
        ) from error
    except (RuntimeError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise CheckpointError(
            f"cannot load the model {described}: its weights and its description do not belong "
            "together; train or fetch it again"
        ) from error


def _read_description(path: Path) -> dict[str, Any]:
    try:
        description = read_json(path)
    except OSError as error:
        raise CheckpointError(f"cannot read the model {path} ({error.strerror})") from error
    except ValueError as error:
        raise CheckpointError(
            f"{path} is truncated or no JSON; train or fetch the model again"
        ) from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise CheckpointError(
            f"{path} is no model that Bundle.save or `gnninterpreter train` wrote; give the .json "
            "of one, or the folder of a run where one may be given"
        )
    if description.get("schema") != SCHEMA:
        raise CheckpointError(
            f"{path} has schema {description.get('schema')!r}, but this version reads schema "
            f"{SCHEMA}; install the version that wrote it, or train the model again"
        )
    return description


def _read_weights(path: Path) -> dict[str, Tensor]:
    try:
        tensors, header = read_tensors(path)
    except OSError as error:
        reason = error.strerror or "no such file"
        raise CheckpointError(f"cannot read the weights {path} ({reason})") from error
    except ValueError as error:
        raise CheckpointError(f"{error}; train or fetch the model again") from error
    if header.get("format") != FORMAT:
        raise CheckpointError(f"{path} does not hold a model of this package")
    return tensors


def _statistics(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    if STATISTICS not in tensors:  # as written before they were compressed
        return below(tensors, f"{STATISTICS}.")
    try:
        return unpack_tensors(tensors[STATISTICS])
    except ValueError as error:
        raise CheckpointError(f"{error}; train or fetch the model again") from error


def _package_data() -> Any:
    return resources.files("gnninterpreter.models") / "checkpoints"
