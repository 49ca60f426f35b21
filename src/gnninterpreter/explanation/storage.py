"""Run folders: numbers in JSON, tensors in safetensors, never a pickle.

The index names its tensors by what is in them. Both are written under new names and the index is
renamed last, so that a folder holds the old run or the new one, whole, whenever the writer is
killed, and can be read while it is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from gnninterpreter.datasets._storage import below, from_bytes, to_bytes
from gnninterpreter.errors import CheckpointError, OutputError
from gnninterpreter.evidence import Check, Evidence
from gnninterpreter.evidence.patterns import core_check, exemplar_check
from gnninterpreter.explanation.explanation import Explanation
from gnninterpreter.explanation.explanation_set import ExplanationSet
from gnninterpreter.explanation.sampler import DrawnSampler, read_sampler
from gnninterpreter.files import finite, read_file, read_json, write_atomically
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.target import target_from_json
from gnninterpreter.schema import anything, checks_of, listed, number, record, text, typed, whole
from gnninterpreter.spec import GraphSpec

SCHEMA = 3
"""Raised when an older reader would misread a run. Fields that a reader does not know are passed
over."""
KIND = "gnninterpreter run"
INDEX = "run.json"
STATISTICS = "statistics."
UNFINISHED = "unfinished-"
"""Folders of finished classes in the folder of a run that is not whole yet."""
# Names of versions before this one, and of writers that were killed.
LEFTOVERS = (
    "tensors-*.safetensors", "latents.safetensors", ".tensors-*.tmp", f".{INDEX}.*.tmp",
    ".report.html.*.tmp",
)  # fmt: skip
LOADED = "its samples are drawn from the stored graphs, since the method itself is not stored"

PARTS = ("cores", "shortcuts", "real_graphs")
# Every field of an explanation but those that read themselves.
FIELDS = checks_of(Explanation, without=("spec", "target", "sampler", *PARTS))
checks = listed(typed(Check, strict=True))
FIELDS["evidence"] = lambda value, where: Evidence(tuple(checks(value, where)))


def check_folder(folder: Path, overwrite: bool) -> None:
    """Check, before any work is done, that a run can be written to a folder."""
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


def save_run(result: ExplanationSet, folder: Path, overwrite: bool = False) -> Path:
    """Write a run folder, which takes the place of one that is there only if told to."""
    check_folder(folder, overwrite)
    tensors: dict[str, Tensor] = {}
    if result.statistics is not None:
        tensors |= {STATISTICS + name: part for name, part in result.statistics.tensors().items()}
    for i, explanation in enumerate(result.values()):
        tensors |= {f"{i}.{name}": part for name, part in explanation.sampler.tensors().items()}
    content = to_bytes(tensors)
    digest = hashlib.sha256(content).hexdigest()
    index = {
        "schema": SCHEMA,
        "kind": KIND,
        "tensors": digest,
        "model": result.model_name,
        "spec": result.spec.to_json(),
        "classes": [_entry(explanation) for explanation in result.values()],
        "inferred": result.inferred,
        "metadata": result.metadata,
    }
    written = write_atomically(folder / _tensors_name(digest), content)
    lines = json.dumps(finite(index), indent=1, allow_nan=False)
    write_atomically(folder / INDEX, lines.encode())
    for pattern in LEFTOVERS:
        for left in set(folder.glob(pattern)) - {written}:
            with contextlib.suppress(OSError):
                left.unlink()
    for place in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(place, ignore_errors=True)
    return folder


def load_run(folder: Path) -> ExplanationSet:
    """Read a run folder; of a run that was stopped, the classes that it had finished.

    Raises:
        CheckpointError: If it is not one, is damaged, or was written by another version.
    """
    if not (folder / INDEX).exists() and (finished := _finished(folder)):
        return _joined([load_run(piece) for piece in finished])
    index, tensors = _read(folder)
    try:
        described = record(
            dict, spec=anything, classes=listed(anything), model=text, inferred=listed(text),
            metadata=_metadata,
        )(index, "the index")  # fmt: skip
        spec = GraphSpec.from_json(described["spec"])
        explanations = [
            _explanation(entry, spec, below(tensors, f"{i}."), f"classes[{i}]")
            for i, entry in enumerate(described["classes"])
        ]
        statistics = _statistics(spec, tensors)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise CheckpointError(f"the run in {folder} is damaged: {error}; make it again") from error
    named = {explanation.name: explanation for explanation in explanations}
    model, inferred, metadata = (described[name] for name in ("model", "inferred", "metadata"))
    return ExplanationSet(spec, named, model, inferred, metadata, statistics)


def _metadata(value: Any, where: str) -> dict[str, Any]:
    """Whatever its owner put there, but for what the package reads."""
    known = {"versions": record(dict), "task": text}
    there = {name: known[name] for name in known if isinstance(value, dict) and name in value}
    record(dict, **there)(value, where)
    return dict(value)


def _finished(folder: Path) -> list[Path]:
    """The finished classes of a run that is not whole, of the latest where there are several."""
    places = [place for place in folder.glob(f"{UNFINISHED}*") if any(place.glob(f"*/{INDEX}"))]
    if not places:
        return []
    latest = max(places, key=lambda place: (place.stat().st_mtime, place.name))
    finished = [index.parent for index in latest.glob(f"*/{INDEX}")]
    return sorted(finished, key=lambda piece: (len(piece.name), piece.name))


def _joined(pieces: Sequence[ExplanationSet]) -> ExplanationSet:
    """One run of the classes of several, which says what is missing."""
    first = pieces[0]
    found = {name: one for piece in pieces for name, one in piece.explanations.items()}
    wanted = first.metadata.get("targets")
    wanted = [str(name) for name in wanted] if isinstance(wanted, list) else list(found)
    missing = [name for name in wanted if name not in found]
    line = f"unfinished: {len(found)} of {len(wanted)}; not explained yet: {', '.join(missing)}"
    return replace(first, explanations=found, inferred=[*first.inferred, line])


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The index of a run and the tensors that belong to it, both in memory."""
    index, again = _read_index(folder), None
    while index != again:
        digest = index["tensors"]
        try:
            content = read_file(folder / _tensors_name(digest))
            if hashlib.sha256(content).hexdigest() != digest:
                raise ValueError("its tensors are not those that were written")
            return index, from_bytes(content)
        except FileNotFoundError:
            # Replaced by another run between the two readings.
            index, again = _read_index(folder), index
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"the run in {folder} cannot be read: {error}; make it again"
            ) from error
    missing = _tensors_name(index["tensors"])
    raise CheckpointError(
        f"the run in {folder} cannot be read: {missing} is missing; make it again"
    )


def _read_index(folder: Path) -> dict[str, Any]:
    try:
        index = read_json(folder / INDEX)
    except FileNotFoundError as error:
        raise CheckpointError(f"{folder} holds no run: there is no {INDEX} in it") from error
    except NotADirectoryError as error:
        raise CheckpointError(f"{folder} is a file; give the folder of a saved run") from error
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"the run in {folder} cannot be read: {INDEX} is damaged ({error}); make it again"
        ) from error
    if not isinstance(index, dict) or index.get("kind") != KIND:
        raise CheckpointError(f"{folder / INDEX} was not written by gnninterpreter")
    if index.get("schema") != SCHEMA:
        raise CheckpointError(
            f"the run in {folder} has schema {index.get('schema')!r:.20}, this version reads "
            f"{SCHEMA}; use the version that wrote it, or make it again"
        )
    digest = index.get("tensors")
    if not isinstance(digest, str) or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise CheckpointError(f"the run in {folder} is damaged: it names no tensors; make it again")
    return index


def _tensors_name(digest: str) -> str:
    return f"tensors-{digest[:16]}.safetensors"


def _statistics(spec: GraphSpec, tensors: dict[str, Tensor]) -> ClassStatistics | None:
    parts = below(tensors, STATISTICS)
    if not parts:
        return None
    found = ClassStatistics.from_tensors(parts, spec)
    rows = {
        part.shape[:1]
        for name, part in found.tensors().items()
        if name != "value_quantiles" and "." not in name
    }
    if len(rows) > 1:
        raise CheckpointError("class statistics are about different numbers of classes")
    return found


def _entry(explanation: Explanation) -> dict[str, Any]:
    """An explanation as values for the index: its summary, and what the reader needs."""
    own = {name: getattr(explanation, name) for name in FIELDS}
    for name in PARTS:
        own[name] = [part.to_json() for part in getattr(explanation, name)]
    return {**own, **explanation.summary(), "sampler": explanation.sampler.to_json()}


def _explanation(
    entry: Any, spec: GraphSpec, tensors: dict[str, Tensor], where: str
) -> Explanation:
    known = record(dict, **FIELDS, target=record(dict), sampler=anything)(entry, where)
    known["target"] = target_from_json(entry["target"])
    known["sampler"] = read_sampler(known["sampler"], tensors, spec)
    dtype = known["sampler"].modes().weight.dtype
    core = listed(core_check(spec, dtype))
    values = {"cores": core, "shortcuts": core, "real_graphs": listed(exemplar_check(spec, dtype))}
    known |= record(dict, **values)(entry, where)
    found = Explanation(spec=spec, **known)
    restarts = len(found.sampler.modes())
    listed(anything, restarts)(found.restarts, f"{where}.restarts")
    output = number() if found.target.kind == "value" else number(0.0, 1.0)
    listed(output, spec.num_classes)(found.class_probabilities, f"{where}.class_probabilities")
    whole(0, restarts - 1)(found.choice, f"{where}.choice")
    for curve in found.history:
        # Another method may have one curve where ours has one for each restart.
        single = all(len(row) == 1 for row in curve.values)
        rows = listed(listed(anything, 1 if single else restarts), len(curve.iterations))
        rows(curve.values, f"{where}.history.{curve.name}")
    if isinstance(found.sampler, DrawnSampler) and LOADED not in found.notes:
        found.notes.append(LOADED)
    return found
