"""Runs in the tools that teams keep their experiments in: TensorBoard, MLflow, Weights & Biases.

A tracker is a callback of `gnninterpreter.explain` that is also told where the run stands. To add
a tool, extend `Tracker` and say how it takes a number and a text.

Example:
    >>> from gnninterpreter.tracking import TensorBoardTracker
    >>> gi.explain(model, dataset, callbacks=[TensorBoardTracker("runs/motif")])  # doctest: +SKIP
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gnninterpreter.errors import MissingExtraError, needs

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation
    from gnninterpreter.search import Snapshot

__all__ = ["MLflowTracker", "TensorBoardTracker", "Tracker", "WandbTracker"]

# What MLflow does not take in a name.
REFUSED = re.compile(r"[^\w\-. /]")


class Tracker(ABC):
    """Writes how each class goes and what it came to; what fails is warned of once, then let be.

    Of the snapshots one in ``every`` is written.
    """

    _step, _class, _broken = 0, "", False

    def __init__(self, every: int = 10) -> None:
        """Nothing is opened before the run begins."""
        self.every = every

    @abstractmethod
    def open(self, model: str, inferred: list[str]) -> None:
        """A run begins."""

    @abstractmethod
    def numbers(self, values: Mapping[str, float], step: int) -> None:
        """Write numbers."""

    @abstractmethod
    def text(self, name: str, value: str) -> None:
        """Write a text."""

    @abstractmethod
    def close(self) -> None:
        """The run is over."""

    def begin(self, model: str, inferred: list[str], classes: list[str]) -> None:
        """A run begins."""
        self._step, self._broken = 0, False
        self._safely(self.open, model, inferred)

    def begin_class(self, name: str) -> None:
        """The search for a class begins."""
        self._class = name

    def look(self, look: Snapshot) -> bool | None:
        """Write how the restarts stand; steps go on over the phases of a search."""
        self._step, self._class = self._step + 1, look.target or self._class
        if self._step % max(1, int(self.every)) == 0:
            score = look.score.nan_to_num(nan=0.0)
            best = int(score.argmax())
            values = {
                "score of the best restart": float(score[best]),
                "score, mean over restarts": float(score.mean()),
                "edges of the best restart": float(look.edges[best]),
            }
            self._safely(self.numbers, self._named(values), self._step)
        return None

    __call__ = look

    def end_class(self, explanation: Explanation) -> None:
        """Write what a class came to; one that was finished before had no search to begin."""
        self._class = explanation.name
        known = {
            name.replace("_", " "): float(value)
            for name, value in explanation.figures().items()
            if isinstance(value, (int, float))
        }
        self._safely(self.numbers, self._named(known), self._step)
        self._safely(self.text, f"{explanation.name}/verdict", str(explanation.verdict))

    def end(self) -> None:
        """The run is over, well or not."""
        self._safely(self.close)

    def _named(self, values: Mapping[str, float]) -> dict[str, float]:
        return {f"{self._class}/{name}": value for name, value in values.items()}

    def _safely(self, write: Callable[..., None], *args: Any) -> None:
        if self._broken:
            return
        try:
            write(*args)
        except MissingExtraError:
            raise
        except Exception as error:  # a tool that fails must not cost an explanation
            self._broken = True
            warnings.warn(f"{type(self).__name__} failed and is off: {error}", stacklevel=2)
            with suppress(Exception):
                self.close()


@dataclass(eq=False)
class TensorBoardTracker(Tracker):
    """Event files in a folder that ``tensorboard --logdir`` shows."""

    folder: str | Path = "runs"
    every: int = 10
    _writer: Any = field(default=None, init=False, repr=False)

    def open(self, model: str, inferred: list[str]) -> None:
        """Open the event file."""
        with needs("tensorboard", "tracking", "TensorBoardTracker"):
            from torch.utils.tensorboard import SummaryWriter
        self._writer = SummaryWriter(str(self.folder))
        self.text("model", "\n\n".join([model, *inferred]))

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        """Write scalars."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def text(self, name: str, value: str) -> None:
        """Write a text."""
        self._writer.add_text(name, value)

    def close(self) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()


@dataclass(eq=False)
class MLflowTracker(Tracker):
    """A run of MLflow; its own place for runs, and the active experiment, when omitted."""

    tracking_uri: str | None = None
    experiment: str | None = None
    every: int = 10
    _client: Any = field(default=None, init=False, repr=False)
    _run: str = field(default="", init=False, repr=False)

    def open(self, model: str, inferred: list[str]) -> None:
        """Start a run."""
        with needs("mlflow-skinny", "tracking", "MLflowTracker"):
            from mlflow.tracking import MlflowClient
        self._client = MlflowClient(tracking_uri=self.tracking_uri)
        name = self.experiment or "Default"
        found = self._client.get_experiment_by_name(name)
        number = found.experiment_id if found else self._client.create_experiment(name)
        self._run = self._client.create_run(number, run_name=model).info.run_id
        self.text("model", "\n".join([model, *inferred]))

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        """Log metrics; MLflow's names know no commas."""
        for name, value in values.items():
            self._client.log_metric(self._run, REFUSED.sub("_", name), value, step=step)

    def text(self, name: str, value: str) -> None:
        """Set a tag."""
        self._client.set_tag(self._run, REFUSED.sub("_", name), value)

    def close(self) -> None:
        """End the run."""
        if self._run:
            self._client.set_terminated(self._run)


@dataclass(eq=False)
class WandbTracker(Tracker):
    """A run of Weights & Biases, or with mode ``"offline"`` a folder to be synchronised later.

    The folder is the working directory when omitted.
    """

    project: str = "gnninterpreter"
    mode: Literal["online", "offline"] = "online"
    folder: str | Path | None = None
    every: int = 10
    _run: Any = field(default=None, init=False, repr=False)

    def open(self, model: str, inferred: list[str]) -> None:
        """Start a run."""
        with needs("wandb", "tracking", "WandbTracker"):
            import wandb
        where = None if self.folder is None else str(self.folder)
        self._run = wandb.init(
            project=self.project, name=model, mode=self.mode, dir=where, notes="\n".join(inferred)
        )

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        """Log numbers."""
        self._run.log(dict(values), step=step)

    def text(self, name: str, value: str) -> None:
        """Keep a text in the run's summary."""
        self._run.summary[name] = value

    def close(self) -> None:
        """End the run."""
        if self._run is not None:
            self._run.finish()
