"""Runs in TensorBoard, MLflow and Weights & Biases, each offline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import gnninterpreter as gi
from gnninterpreter.tracking import MLflowTracker, TensorBoardTracker, Tracker, WandbTracker
from tests.tiny import trained_shapes


class Kept(Tracker):
    """Keeps what it is told; fails where it is told to."""

    def __init__(self, failing: bool = False) -> None:
        super().__init__(every=1)
        self.told: list[tuple[Any, ...]] = []
        self.failing = failing

    def open(self, model: str, inferred: list[str]) -> None:
        self.told.append(("open", model))

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        if self.failing:
            raise OSError("disk full")
        self.told.append((step, dict(values)))

    def text(self, name: str, value: str) -> None:
        self.told.append((name, value))

    def close(self) -> None:
        self.told.append(("close",))


def run(tracker: Tracker) -> gi.ExplanationSet:
    model, graphs = trained_shapes()
    return gi.explain(model, graphs, targets=[0], restarts=2, progress=False, callbacks=[tracker])


def test_a_tracker_is_told_of_every_class_with_steps_that_only_grow() -> None:
    tracker = Kept()
    (explanation,) = run(tracker).values()
    assert tracker.told[0][0] == "open"
    assert tracker.told[-1] == ("close",)
    steps = [told[0] for told in tracker.told if isinstance(told[0], int)]
    assert steps == sorted(steps)
    assert len(steps) > 3
    last = next(told[1] for told in reversed(tracker.told) if isinstance(told[0], int))
    assert last[f"{explanation.name}/probability"] == explanation.probability.mean
    assert (f"{explanation.name}/verdict", str(explanation.verdict)) in tracker.told


def test_a_class_that_was_finished_before_is_written_under_its_own_name() -> None:
    (explanation,) = run(Kept()).values()
    tracker = Kept()
    tracker.begin("model", [], ["other", explanation.name])
    tracker.begin_class("other")
    tracker.end_class(explanation)  # it needed no search, so that none began
    named = [name for told in tracker.told if isinstance(told[0], int) for name in told[1]]
    assert {name.rpartition("/")[0] for name in named} == {explanation.name}


def test_a_tracker_that_fails_is_warned_of_once_and_costs_nothing() -> None:
    with pytest.warns(UserWarning, match="Kept failed and is off: disk full") as seen:
        found = run(Kept(failing=True))
    assert len(seen) == 1
    assert len(found) == 1


def test_tensorboard_holds_the_numbers(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    (explanation,) = run(TensorBoardTracker(tmp_path)).values()
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    (last,) = events.Scalars(f"{explanation.name}/probability")
    assert last.value == pytest.approx(explanation.probability.mean)


def test_mlflow_holds_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow")
    from mlflow.tracking import MlflowClient

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    (explanation,) = run(MLflowTracker(tmp_path.as_uri(), experiment="shapes")).values()
    client = MlflowClient(tracking_uri=tmp_path.as_uri())
    experiment = client.get_experiment_by_name("shapes")
    (stored,) = client.search_runs([experiment.experiment_id])
    assert stored.info.status == "FINISHED"
    found = stored.data.metrics[f"{explanation.name}/probability"]
    assert found == pytest.approx(explanation.probability.mean)


def test_wandb_writes_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    written: dict[str, float] = {}

    class Noted(WandbTracker):
        def numbers(self, values: Mapping[str, float], step: int) -> None:
            super().numbers(values, step)
            written.update(values)

    # A tracker that failed would warn, and warnings are errors. When the file is flushed is up to
    # the tool's own process.
    (explanation,) = run(Noted(mode="offline", folder=tmp_path)).values()
    assert list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
    assert written[f"{explanation.name}/probability"] == explanation.probability.mean
