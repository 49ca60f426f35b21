"""The state of a training run between two epochs, on disk so that a killed run can go on.

The file is the SHA-256 of its contents and then the contents, so that one damaged bit is noticed
before anything is read from it.
"""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gnninterpreter.datasets._storage import below, from_bytes, to_bytes
from gnninterpreter.files import read_file, write_atomically

DIGEST = 32
NUMBERS = ("epoch", "best_epoch", "best_figure", "best_loss", "seconds")

logger = logging.getLogger(__name__)


class TrainingState:
    """What a run is made of between epochs; only one of the same ``settings`` is resumed."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        generator: torch.Generator,
        settings: dict[str, Any],
    ) -> None:
        self._model = model
        self._optimizer = optimizer
        self._generator = generator
        self._settings = json.loads(json.dumps(settings))
        self.epoch = 0
        self.best_epoch = 0
        self.best_figure = float("-inf")
        self.best_loss = float("inf")
        self.seconds = 0.0
        self._best = _copy(model)

    def record(self, figure: float, loss: float, seconds: float) -> None:
        """Count an epoch; keep the state of the highest figure, then of the lowest loss."""
        self.epoch += 1
        self.seconds += seconds
        if (figure, -loss) > (self.best_figure, -self.best_loss):
            self.best_figure, self.best_loss, self.best_epoch = figure, loss, self.epoch
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
        header = {"settings": self._settings, **{name: getattr(self, name) for name in NUMBERS}}
        tensors["header"] = torch.frombuffer(
            bytearray(json.dumps(header).encode()), dtype=torch.uint8
        )
        contents = to_bytes(tensors)
        write_atomically(path, hashlib.sha256(contents).digest() + contents)

    def resume(self, path: Path) -> bool:
        """Take up the state in a file of the same settings, if there is one; others are logged."""
        try:
            stored = read_file(path)
            if hashlib.sha256(stored[DIGEST:]).digest() != stored[:DIGEST]:
                raise ValueError("it is not what was written")
            tensors = from_bytes(stored[DIGEST:])
            header = json.loads(bytes(tensors["header"].tolist()))
            known = header["settings"]
        except FileNotFoundError:
            return False
        except (OSError, LookupError, TypeError, ValueError, RecursionError):
            logger.warning("the training state %s is damaged; training starts again", path)
            return False
        if known != self._settings:
            logger.warning("the training state %s is of another run; training starts again", path)
            return False
        self._model.load_state_dict(below(tensors, "model."))
        self._best = {
            key: value.to(self._best[key].device) for key, value in below(tensors, "best.").items()
        }
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in below(tensors, "moments.").items():
            index, key = name.split(".", 1)
            moments.setdefault(int(index), {})[key] = value
        self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": moments})
        self._generator.set_state(tensors["generator"])
        for name in NUMBERS:
            setattr(self, name, header[name])
        return True


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {key: value.detach().clone() for key, value in model.state_dict().items()}
