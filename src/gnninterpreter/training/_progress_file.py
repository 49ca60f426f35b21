"""The state of a training run between two epochs, on disk so that a killed run can go on."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gnninterpreter.datasets._storage import read_tensors, write_tensors
from gnninterpreter.errors import OutputError

__all__ = ["TrainingState"]


class TrainingState:
    """Weights, moments, random state and best result of a run, saved and restored together.

    Args:
        model: The model in training.
        optimizer: Its AdamW.
        generator: The source of the order of the batches.
        settings: What the run depends on, as JSON values; only a file with the same is resumed.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        generator: torch.Generator,
        settings: dict[str, Any],
    ) -> None:
        """Start at epoch 0, with the model as it is."""
        self._model = model
        self._optimizer = optimizer
        self._generator = generator
        self._settings = json.loads(json.dumps(settings))
        self.epoch = 0
        self.best_epoch = 0
        self.best_accuracy = -1.0
        self.best_loss = float("inf")
        self.seconds = 0.0
        self._best = _copy(model)

    def record(self, accuracy: float, loss: float, seconds: float) -> None:
        """Count an epoch, and keep the model's state if it is the best yet.

        The better state has the higher accuracy on the validation part, or the lower loss at the
        same accuracy.
        """
        self.epoch += 1
        self.seconds += seconds
        if (accuracy, -loss) > (self.best_accuracy, -self.best_loss):
            self.best_accuracy, self.best_loss, self.best_epoch = accuracy, loss, self.epoch
            self._best = _copy(self._model)

    def restore_best(self) -> None:
        """Put the best state into the model."""
        self._model.load_state_dict(self._best)

    def save(self, path: Path) -> None:
        """Write the state, atomically."""
        tensors = {f"model.{key}": value for key, value in self._model.state_dict().items()}
        tensors |= {f"best.{key}": value for key, value in self._best.items()}
        for index, moments in self._optimizer.state_dict()["state"].items():
            tensors |= {f"moments.{index}.{key}": value for key, value in moments.items()}
        tensors["generator"] = self._generator.get_state()
        header = {
            "settings": self._settings,
            "epoch": self.epoch,
            "best_epoch": self.best_epoch,
            "best_accuracy": self.best_accuracy,
            "best_loss": self.best_loss,
            "seconds": self.seconds,
        }
        try:
            write_tensors(path, tensors, header)
        except OSError as error:
            raise OutputError(
                f"cannot write the training state to {path} ({error.strerror}); "
                "choose a folder that can be written"
            ) from error

    def resume(self, path: Path) -> bool:
        """Take up the state in a file; return whether there was one of the same settings."""
        try:
            tensors, header = read_tensors(path)
        except (OSError, ValueError):
            return False
        if header.get("settings") != self._settings:
            return False
        self._model.load_state_dict(_part(tensors, "model."))
        self._best = {
            key: value.to(self._best[key].device)
            for key, value in _part(tensors, "best.").items()
        }  # fmt: skip
        stored = self._optimizer.state_dict()
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in _part(tensors, "moments.").items():
            index, key = name.split(".", 1)
            moments.setdefault(int(index), {})[key] = value
        self._optimizer.load_state_dict({**stored, "state": moments})
        self._generator.set_state(tensors["generator"])
        for key in ("epoch", "best_epoch", "best_accuracy", "best_loss", "seconds"):
            with contextlib.suppress(KeyError):
                setattr(self, key, header[key])
        return True


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {key: value.detach().clone() for key, value in model.state_dict().items()}


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
