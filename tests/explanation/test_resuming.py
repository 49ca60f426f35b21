"""Runs that were stopped go on where they were, and end as if nothing had happened."""

from __future__ import annotations

import gc
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import gnninterpreter as gi
from gnninterpreter.explanation import ExplanationSet
from gnninterpreter.search import Snapshot
from tests.cli.lab import Degrees, graphs

SLOW = ("anneal", "local search", "iterated search", "calibrate", "spread", "shortcuts")
RECIPE = gi.Recipe.auto(iterations=3).without(*SLOW)


class Progress:
    """Notes which classes are searched for, and stops at one of them."""

    def __init__(self, stop_at: str = "", by: type[BaseException] = KeyboardInterrupt) -> None:
        self.begun: list[str] = []
        self.stop_at, self.by = stop_at, by

    def begin(self, model: str, inferred: list[str], classes: list[str]) -> None: ...

    def begin_class(self, name: str) -> None:
        if name == self.stop_at:
            raise self.by
        self.begun.append(name)

    def look(self, look: Snapshot) -> None: ...

    def end_class(self, explanation: Any) -> None: ...

    def end(self) -> None: ...


def explain(folder: Path | None, progress: Any = False, **more: Any) -> ExplanationSet:
    settings = {"restarts": 1, "recipe": RECIPE, "progress": progress, "resume": folder}
    return gi.explain(more.pop("model", Degrees()), graphs(), **settings | more)


def same(one: ExplanationSet, other: ExplanationSet) -> bool:
    return one.metadata == other.metadata and all(
        replace(a, seconds=0.0) == replace(b, seconds=0.0)
        for a, b in zip(one.values(), other.values(), strict=True)
    )


@pytest.fixture(scope="module")
def undisturbed() -> ExplanationSet:
    return explain(None)


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A run that was stopped before its second class."""
    said = r"^1 of 2 are finished and kept in .*run; the same call goes on from there$"
    with pytest.raises(KeyboardInterrupt, match=said):
        explain(tmp_path / "run", Progress(stop_at="class 1"))
    return tmp_path / "run"


def test_only_what_is_missing_is_computed(stopped: Path, undisturbed: ExplanationSet) -> None:
    progress = Progress()
    result = explain(stopped, progress)
    assert progress.begun == ["class 1"]
    assert same(result, undisturbed)
    result.save(stopped)
    assert same(gi.load(stopped), undisturbed)
    assert sorted(path.name[:7] for path in stopped.iterdir()) == ["run.jso", "tensors"]


def test_a_stopped_run_loads_as_what_is_finished(stopped: Path) -> None:
    found = gi.load(stopped)
    assert list(found) == ["class 0"]
    assert found.inferred[-1] == "unfinished: 1 of 2; not explained yet: class 1"


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"restarts": 2}, {"recipe": RECIPE.with_(iterations=4)}, {"model": 0}]
)
def test_other_inputs_begin_anew(stopped: Path, change: dict[str, Any]) -> None:
    if "model" in change:
        change = {"model": Degrees()}
        with torch.no_grad():
            change["model"].head.bias[0] += 1e-3
    progress = Progress(stop_at="class 1", by=RuntimeError)
    with pytest.raises(RuntimeError):
        explain(stopped, progress, **change)
    assert progress.begun == ["class 0"]


def test_the_code_of_a_model_is_an_input_too(stopped: Path) -> None:
    class Other(Degrees):
        def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
            return super().forward(x, edge_index, batch) * 1.5

    progress = Progress(stop_at="class 1", by=RuntimeError)
    with pytest.raises(RuntimeError):
        explain(stopped, progress, model=Other())
    assert progress.begun == ["class 0"]


def test_a_damaged_piece_is_computed_again(stopped: Path) -> None:
    (index,) = stopped.glob("unfinished-*/0/run.json")
    values = json.loads(index.read_text())
    values["classes"][0]["probability"]["mean"] = 7.0
    index.write_text(json.dumps(values))
    progress = Progress(stop_at="class 1", by=RuntimeError)
    with pytest.raises(RuntimeError):
        explain(stopped, progress)
    assert progress.begun == ["class 0"]


def test_what_a_callback_cut_short_is_not_kept(tmp_path: Path) -> None:
    explain(tmp_path / "run", callbacks=(lambda _: True,))
    assert not (tmp_path / "run").exists()


def test_the_old_run_stays_until_the_new_one_is_whole(
    tmp_path: Path, undisturbed: ExplanationSet
) -> None:
    undisturbed.save(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        explain(tmp_path, Progress(stop_at="class 1"), seed=1)
    assert same(gi.load(tmp_path), undisturbed)
    explain(tmp_path, seed=1).save(tmp_path, overwrite=True)
    assert gi.load(tmp_path).metadata["seed"] == 1
    assert not list(tmp_path.glob("unfinished-*"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files by /proc")
def test_ten_explanations_leave_nothing_behind(tmp_path: Path) -> None:
    model = Degrees()

    def left() -> tuple[int, int]:
        gc.collect()
        tensors = sum(issubclass(type(one), torch.Tensor) for one in gc.get_objects())
        return len(os.listdir("/proc/self/fd")), tensors

    def once(number: int) -> None:
        result = explain(tmp_path, model=model, targets=0, callbacks=(lambda _: True,))
        result.save(tmp_path, overwrite=True)
        gi.load(tmp_path)

    for number in range(2):
        once(number)
    before = left()
    for number in range(10):
        once(number)
    assert left() == before
