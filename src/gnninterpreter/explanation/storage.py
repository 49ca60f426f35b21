"""Run folders: numbers in JSON, tensors in safetensors, never a pickle.

Every file is written beside its place and then renamed, the index last, so that a folder can be
read while it is written and a killed run leaves no half file behind.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.errors import CheckpointError, OutputError
from gnninterpreter.evidence import Evidence, evidence_of
from gnninterpreter.explanation.explanation import Curve, Explanation, Probability, Restart
from gnninterpreter.explanation.explanation_set import ExplanationSet
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.target import target_from_json
from gnninterpreter.spec import GraphSpec

__all__ = [
    "SCHEMA",
    "check_folder",
    "load_run",
    "load_statistics",
    "save_run",
    "write_atomically",
]

SCHEMA = 1
"""Raised only when an older reader would misread a run. What a reader can do without, such as the
class statistics, is added under names that older versions pass over."""
INDEX = "run.json"
TENSORS = "latents.safetensors"
STATISTICS = "statistics."


def write_atomically(path: Path, content: bytes) -> Path:
    """Write a file so that it is there whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror or error}; choose another place"
        ) from error
    return path


def check_folder(folder: Path, overwrite: bool) -> None:
    """Check, before any work is done, that a run can be written to a folder.

    Raises:
        OutputError: If it already holds a run, is a file, or cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; give a folder")
    if (folder / INDEX).exists() and not overwrite:
        raise OutputError(
            f"{folder} already holds a run; pass overwrite (--overwrite) to replace it"
        )
    existing = next((p for p in (folder, *folder.absolute().parents) if p.exists()), Path("/"))
    if not os.access(existing, os.W_OK):
        raise OutputError(
            f"{folder} cannot be written; choose another place or change its permissions"
        )


def save_run(
    result: ExplanationSet,
    folder: Path,
    overwrite: bool = False,
    *,
    statistics: ClassStatistics | None = None,
) -> Path:
    """Write a run folder.

    Args:
        result: What to write.
        folder: Where to.
        overwrite: Whether to replace a run that is there.
        statistics: What the classes look like to the model, so that similarities can be told
            where neither its data nor its checkpoint is at hand; those that `result` carries when
            omitted.
    """
    from safetensors.torch import save

    check_folder(folder, overwrite)
    statistics = statistics or result.statistics
    tensors: dict[str, Tensor] = {}
    if statistics is not None:
        tensors |= {STATISTICS + name: part for name, part in statistics.tensors().items()}
    classes: list[dict[str, Any]] = []
    for explanation in result.values():
        for i, latent in enumerate(explanation.distribution.latents()):
            tensors[f"{explanation.name}.{i}"] = latent.cpu().contiguous()
        classes.append(
            {
                **explanation.summary(),
                "candidates": explanation.distribution.num_candidates,
                "history": [vars(curve) for curve in explanation.history],
            }
        )
    index = {
        "schema": SCHEMA,
        "kind": "gnninterpreter run",
        "model": result.model_name,
        "spec": result.spec.to_json(),
        "classes": classes,
        "inferred": result.inferred,
        "metadata": result.metadata,
    }
    write_atomically(folder / TENSORS, save(tensors))
    text = json.dumps(_without_nan(index), indent=1, allow_nan=False)
    write_atomically(folder / INDEX, text.encode())
    return folder


def load_run(folder: Path) -> ExplanationSet:
    """Read a run folder.

    Raises:
        CheckpointError: If it is not one, is damaged, or was written by a newer version.
    """
    if not (folder / INDEX).is_file():
        raise CheckpointError(f"{folder} holds no run: there is no {INDEX} in it")
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"the run in {folder} cannot be read: {error}") from error
    if not isinstance(index, dict) or index.get("kind") != "gnninterpreter run":
        raise CheckpointError(f"{folder / INDEX} was not written by gnninterpreter")
    if index.get("schema") != SCHEMA:
        raise CheckpointError(
            f"the run in {folder} has schema {index.get('schema')}, this version reads {SCHEMA}; "
            "use the version that wrote it"
        )
    tensors = _tensors(folder)
    try:
        spec = GraphSpec.from_json(index["spec"])
        explanations = [_explanation(entry, spec, tensors) for entry in index["classes"]]
        return ExplanationSet(
            spec,
            {explanation.name: explanation for explanation in explanations},
            index["model"],
            index["inferred"],
            index["metadata"],
            load_statistics(folder),
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        cause = f"{type(error).__name__}: {error}"
        raise CheckpointError(f"the run in {folder} is damaged ({cause}); make it again") from error


def load_statistics(folder: Path) -> ClassStatistics | None:
    """Read the class statistics of a run folder; None where the run was made without any.

    Raises:
        CheckpointError: If the folder is damaged.
    """
    if not (folder / TENSORS).is_file():
        return None
    parts = {
        name.removeprefix(STATISTICS): tensor
        for name, tensor in _tensors(folder).items()
        if name.startswith(STATISTICS)
    }
    return ClassStatistics.from_tensors(parts) if parts else None


def _tensors(folder: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(folder / TENSORS))
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"the run in {folder} cannot be read: {error}") from error


def _explanation(entry: dict[str, Any], spec: GraphSpec, tensors: dict[str, Tensor]) -> Explanation:
    target = target_from_json(entry["target"])
    count = 1 + len(spec.nodes) + len(spec.edges)
    latents = [tensors[f"{target.name}.{i}"] for i in range(count)]
    shape = GraphDistribution(spec, entry["candidates"], latents[0], tuple(latents[1:2]))
    explanation = Explanation(
        spec=spec,
        target=target,
        distribution=shape.with_latents(latents),
        choice=entry["choice"],
        probability=Probability(**entry["probability"]),
        mode_probability=entry["mode_probability"],
        class_probabilities=entry["class_probabilities"],
        restarts=[Restart(**restart) for restart in entry["restarts"]],
        similarity=entry["similarity"],
        similarity_percentile=entry["similarity_percentile"],
        max_nodes=entry["max_nodes"],
        max_edges=entry["max_edges"],
        gradient=entry["gradient"],
        recipe=entry["recipe"],
        seed=entry["seed"],
        seconds=entry["seconds"],
        history=[_curve(**curve) for curve in entry["history"]],
        notes=entry["notes"],
    )
    # Runs of older versions hold the figures only, so that the checks are made from those.
    stored = entry.get("evidence")
    evidence = evidence_of(explanation) if stored is None else Evidence.from_json(stored)
    return replace(explanation, evidence=evidence)


def _curve(name: str, iterations: list[int], values: list[list[float | None]]) -> Curve:
    return Curve(name, iterations, [[math.nan if v is None else v for v in row] for row in values])


def _without_nan(value: Any) -> Any:
    """Plain values with None for what is not finite, which JSON has no word for."""
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
