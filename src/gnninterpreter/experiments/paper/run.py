"""Running studies: which there are, what is already there, and writing down what they come to."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gnninterpreter._version import __version__
from gnninterpreter.errors import MissingExtraError, OutputError
from gnninterpreter.experiments.paper.compute import CACHE, STUDIES, computations_of, compute
from gnninterpreter.experiments.paper.settings import DATASETS, Settings
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.paper.tables import Table
from gnninterpreter.experiments.store import Store
from gnninterpreter.files import MOST_BYTES, atomic_path, read_file, read_json
from gnninterpreter.fingerprints import code_fingerprint, digest_of, model_fingerprint, versions
from gnninterpreter.parallel import Workers

SCHEMA = 3
PLACE = "gnninterpreter.experiments.paper.studies"


def run(
    studies: Sequence[str],
    out: str | Path,
    *,
    quick: bool = False,
    seed: int = 0,
    fresh: bool = False,
    jobs: int | Workers = 1,
    any_version: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> list[Table]:
    """Run studies of `STUDIES`, write their tables and figures, and return all tables.

    Each has a folder of its own in ``out``. One whose results are there, found with the same
    inputs, is not run again, unless all are to be drawn ``fresh``. Values that were computed with
    other versions of torch and the like count with ``any_version``.
    """
    for package in ("pandas", "matplotlib"):
        if find_spec(package) is None:  # Said before any work is done, as is an unknown name.
            raise MissingExtraError("the paper's evaluation", package, "experiments")
    settings = Settings(quick, seed)
    computations_of(studies, settings)
    folder = Path(out)
    context = StudyContext(settings, Store(folder / CACHE, any_version))
    tables: list[Table] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        records = {name: _inputs(name, settings) for name in studies}
        known = {n: None if fresh else _stored(folder / n, records[n]) for n in studies}
        open_ = [name for name in studies if known[name] is None]
        if open_:
            compute(open_, settings, context.store, jobs=jobs, say=say)
        for name in studies:
            inputs, stored = records[name], known[name]
            if stored is not None:
                say(f"{name}: already there")
                tables += stored
                continue
            say(f"{name}: begins")
            module = importlib.import_module(f"{PLACE}.{name}")
            started = time.perf_counter()
            outcome: Outcome = module.study(context)
            seconds = time.perf_counter() - started
            _write(folder / name, outcome, inputs, seconds)
            say(f"{name}: done in {seconds:.0f} s")
            tables += outcome.tables
        _index(folder)
    except OSError as error:
        raise OutputError(
            f"cannot write to {folder} ({error.strerror or error}); choose another folder"
        ) from error
    return tables


def _inputs(name: str, settings: Settings) -> dict[str, Any]:
    """Everything the results of a study depend on."""
    works = computations_of([name], settings)
    return {
        "schema": SCHEMA,
        "study": name,
        "version": __version__,
        "code": code_fingerprint(f"{PLACE}.{name}"),
        "settings": asdict(settings),
        "models": [model_fingerprint(dataset) for dataset in DATASETS],
        "computations": digest_of(json.dumps(w.inputs(), sort_keys=True).encode() for w in works),
        "versions": versions(),
    }


def _stored(folder: Path, inputs: dict[str, Any]) -> list[Table] | None:
    try:
        record = read_json(folder / "study.json")
        if record["inputs"] != inputs or not all((folder / n).is_file() for n in record["files"]):
            return None
        return [Table.from_json(read_json(folder / f"{n}.json")) for n in record["tables"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _write(folder: Path, outcome: Outcome, inputs: dict[str, Any], seconds: float) -> None:
    """Write everything, and last the record that says it is complete."""
    from gnninterpreter.experiments.charts import save

    folder.mkdir(parents=True, exist_ok=True)
    files = [name for table in outcome.tables for name in table.write(folder)]
    for name, figure in outcome.figures.items():
        save(figure, folder / f"{name}.svg")
        files.append(f"{name}.svg")
    record = {
        "inputs": inputs,
        "seconds": round(seconds, 1),
        "tables": [table.name for table in outcome.tables],
        "files": files,
    }
    with atomic_path(folder / "study.json") as temporary:
        temporary.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _index(folder: Path) -> None:
    """Write all tables that are there into one file for people."""
    parts = ["# The paper's evaluation, repeated\n"]
    for name in STUDIES:
        try:
            described = read_json(folder / name / "study.json")
            quick = described["inputs"]["settings"]["quick"]
            files = [Path(Path(file).name) for file in described["files"]]
            tables = [folder / name / file for file in files if file.suffix == ".md"]
            shown = [read_file(table, MOST_BYTES).decode("utf-8") for table in tables]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not there, or damaged: another study does not suffer for it
        size = "quick version" if quick else "full version"
        parts.append(f"# {name.capitalize()}\n\n{size}\n")
        parts += shown
        parts += [f"![{f.stem}]({name}/{f.name})\n" for f in files if f.suffix == ".svg"]
    with atomic_path(folder / "README.md") as temporary:
        temporary.write_text("\n".join(parts), encoding="utf-8")
