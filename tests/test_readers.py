"""Readers of files that anybody may have written: one sentence, or what can be used.

Every reader gets files of its own, changed by chance: bits, ends, fields, numbers, depths; and
things that are no files at all.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

import gnninterpreter as gi
from gnninterpreter.audit import audit, load_graphs
from gnninterpreter.chem import read_smiles
from gnninterpreter.errors import DataError, GNNInterpreterError
from gnninterpreter.experiments.paper.run import _index, _stored
from gnninterpreter.experiments.realism.discrepancy import read_discrepancies
from gnninterpreter.experiments.realism.rows import BENCH as REALISM
from gnninterpreter.experiments.realism.rows import RealismRow
from gnninterpreter.experiments.realism.summary import summarize as realism_summary
from gnninterpreter.experiments.robustness import BENCH as ROBUSTNESS
from gnninterpreter.experiments.robustness.summary import summarize
from gnninterpreter.experiments.store import Computation, Store
from gnninterpreter.files import read_json
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.models import load_bundle
from gnninterpreter.report.page import render_page
from gnninterpreter.sweep import load_recipe, read_results, read_sweep, save_recipe
from gnninterpreter.sweep.results import Results
from gnninterpreter.sweep.spec import ModelSource, SweepSpec, change_recipe
from gnninterpreter.sweep.tune import TuneSpec, _best, _study, nested
from gnninterpreter.training._progress_file import TrainingState
from tests.cli.lab import Degrees, graphs
from tests.experiments.robustness.test_robustness import RUN
from tests.fuzzing import cases

LONGEST = 5.0
RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"


@dataclass(frozen=True)
class Reader:
    """A way to read files.

    Args:
        write: Writes what is whole into a folder.
        read: Reads it, and uses it as the package does.
        silent: Whether what is damaged is passed over instead of refused.
    """

    write: Callable[[Path], Any]
    read: Callable[[Path], Any]
    silent: bool = False


@functools.cache
def explained() -> gi.ExplanationSet:
    return gi.explain(Degrees(), graphs(), restarts=1, progress=False, callbacks=(lambda _: True,))


@functools.cache
def audited() -> str:
    return json.dumps(audit(Degrees(), graphs(), explanations=explained(), hosts=2).to_json())


def read_run(folder: Path) -> None:
    found = gi.load(folder)
    repr(found), found.summary()
    for one in found.values():
        one.sample(1)
        one.modes()
    render_page(found)


def real_rows() -> list[RealismRow]:
    return REALISM.read(RESULTS / "realism" / "ours.json")[:3]


def state() -> TrainingState:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    return TrainingState(model, optimizer, torch.Generator(), {"seed": 1})


SWEEP = """
models = ["mutag", { model = "a:b", checkpoints = ["*.toml"] }]
seeds = 3
restarts = 2
recipes = ["auto", { base = "certain", name = "x", without = ["gradient"] }]
"""
WORK = Computation("robustness.compute", "explained", (("model", "x"),))


class Kept(Store):
    """A store whose file has one name, whatever the computation depends on."""

    def path(self, work: Computation) -> Path:
        return self.folder / "value.json"


def write_store(folder: Path) -> None:
    from gnninterpreter.fingerprints import versions

    content = {"versions": versions(), "value": {"a": [1, 2]}}
    (folder / "value.json").write_text(json.dumps(content))


def write_study(folder: Path) -> None:
    shutil.copytree(RESULTS / "paper" / "statistics", folder / "statistics")


def read_study(folder: Path) -> None:
    _stored(folder / "statistics", {})
    _index(folder)


def read_graph(folder: Path) -> None:
    try:
        values = read_json(folder / "graph.json")
    except (OSError, ValueError) as error:
        raise DataError(str(error)) from error  # as the live page says it
    graph_from_json(values, explained().spec)


def write_table(folder: Path) -> None:
    text = "smiles,y,z\nCCO,1,0.5\nc1ccccc1,0,\nCC(=O)O,1,2\n"
    (folder / "table.csv").write_text(text)
    (folder / "table.csv.gz").write_bytes(gzip.compress(text.encode()))


def read_table(folder: Path) -> None:
    for name in ("table.csv", "table.csv.gz"):
        read_smiles(folder / name, ["y", "z"])


def write_parts(folder: Path) -> None:
    Results(folder).add([{"key": "a", "status": "done", "probability": 0.5, "result": "{}"}] * 3)
    Results(folder).add([{"key": "b", "status": "failed", "seed": 1}])


TUNING = TuneSpec(
    SweepSpec((ModelSource("mutag"),)), gi.Recipe.auto(), {"stop_score": [0.8, 0.9]}, trials=1
)


def write_journal(folder: Path) -> None:
    study = _study(TUNING, folder)
    trial = study.ask()
    trial.suggest_categorical("stop_score", [0.8, 0.9])
    study.tell(trial, 1.0)


def read_journal(folder: Path) -> None:
    (settings,) = _best(_study(TUNING, folder), folder).values()
    change_recipe(TUNING.base, nested(settings))


READERS = {
    "run": Reader(lambda folder: explained().save(folder), read_run),
    "unfinished": Reader(
        lambda folder: explained().save(folder / "unfinished-0" / "0"),
        lambda folder: gi.load(folder),
    ),
    "bundle": Reader(
        lambda folder: gi.models.load("is_acyclic").save(folder),
        lambda folder: load_bundle(folder / "is_acyclic.json"),
    ),
    "audit": Reader(
        lambda folder: (folder / "audit.json").write_text(audited()),
        lambda folder: load_graphs(folder),
    ),
    "robustness": Reader(
        lambda folder: ROBUSTNESS.write([RUN, RUN], folder / "runs.json"),
        lambda folder: summarize(ROBUSTNESS.read(folder / "runs.json")),
    ),
    "realism": Reader(
        lambda folder: REALISM.write(real_rows(), folder / "rows.json"),
        lambda folder: realism_summary(
            REALISM.read(folder / "rows.json"), read_discrepancies(folder)
        ),
    ),
    "store": Reader(write_store, lambda folder: Kept(folder).read(WORK), silent=True),
    "study": Reader(write_study, read_study, silent=True),
    "training": Reader(
        lambda folder: state().save(folder / "x.training"),
        lambda folder: state().resume(folder / "x.training"),
        silent=True,
    ),
    "graph": Reader(
        lambda folder: (folder / "graph.json").write_text(
            json.dumps(graph_to_json(explained()[0].best, explained().spec))
        ),
        read_graph,
    ),
    "recipe": Reader(
        lambda folder: save_recipe(gi.Recipe.auto(), folder / "recipe.json"),
        lambda folder: load_recipe("recipe.json", folder),
    ),
    "sweep": Reader(
        lambda folder: (folder / "sweep.toml").write_text(SWEEP),
        lambda folder: read_sweep(folder / "sweep.toml"),
    ),
    "parts": Reader(write_parts, lambda folder: read_results(folder).to_pylist()),
    "journal": Reader(write_journal, read_journal),
    "table": Reader(write_table, read_table),
}

ODD = (
    None, True, -1, 0, 7.0, 1e5, 10**9, 10**400, -(10**30), "", "x", "²", "\0", [], [[]], {},
    [None], {"kind": "x"}, "NaN", 1e308, [1, "a"], "x" * 5000,
)  # fmt: skip


def places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every place in nested values, as what holds it and its key."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(entries):
        found.append((value, key))
        if isinstance(part, (dict, list)):
            places(part, found)
    return found


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def damaged(path: Path, chance: random.Random) -> str:
    """Change a file by chance, and say how."""
    content = path.read_bytes()
    kinds = ("bit", "cut", "insert", "empty", *["value"] * 4, "deep", "drop", "odd file")
    kind = chance.choice(kinds)
    if kind in ("value", "drop", "deep") and path.suffix == ".json":
        values = json.loads(content)
        holder, key = chance.choice(places(values, []) or [(values, None)])
        if kind == "drop" and key is not None:
            del holder[key]
        elif kind == "deep":
            holder[key] = "deep"
            path.write_text(json.dumps(values).replace('"deep"', "[" * 990 + "]" * 990))
            return kind
        elif key is not None:
            holder[key] = chance.choice(ODD)
        path.write_text(json.dumps(values).replace('"NaN"', "NaN"))
    elif kind == "odd file":
        path.unlink()
        chance.choice((os.mkfifo, os.mkdir, _loop, _endless))(path)
    elif kind == "cut":
        path.write_bytes(content[: chance.randrange(max(len(content), 1))])
    elif kind == "insert":
        at = chance.randrange(len(content) + 1)
        path.write_bytes(content[:at] + chance.randbytes(chance.randrange(1, 9)) + content[at:])
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        changed = bytearray(content)
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(changed))
    return kind


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    @functools.cache
    def write(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        READERS[name].write(folder)
        return folder

    return write


def outcome(name: str, folder: Path) -> str:
    """How reading ends, where it ends as it may."""
    try:
        READERS[name].read(folder)
    except GNNInterpreterError as error:
        return "refused" if "\n" not in str(error) else "lines"
    return "read"


@pytest.mark.parametrize("name", READERS)
def test_whole_files_are_read(name: str, whole: Callable[[str], Path], tmp_path: Path) -> None:
    shutil.copytree(whole(name), tmp_path / "files")
    assert outcome(name, tmp_path / "files") == "read"


@pytest.mark.parametrize("name", READERS)
def test_damaged_files(
    name: str,
    whole: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
    record_property: Callable[[str, object], None],
) -> None:
    outcomes: dict[str, int] = {}
    place = tmp_path_factory.mktemp("damaged") / "files"

    @settings(
        max_examples=cases(50),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**32))
    def check(seed: int) -> None:
        chance = random.Random(seed)
        shutil.copytree(whole(name), place)
        try:
            files = sorted(path for path in place.rglob("*") if path.is_file())
            what = damaged(chance.choice(files), chance)
            started = time.process_time()
            ended = outcome(name, place)
            outcomes[ended] = outcomes.get(ended, 0) + 1
            assert time.process_time() - started < LONGEST, what
        finally:
            shutil.rmtree(place)

    check()
    record_property(name, outcomes)
    assert sum(outcomes.values()) >= cases(50)
    assert "lines" not in outcomes
    assert "refused" in outcomes or READERS[name].silent
