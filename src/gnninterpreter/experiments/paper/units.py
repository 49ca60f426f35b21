"""Units of work: the smallest pieces that are computed, kept and never computed twice.

A unit is a kind of work and its arguments. Its value is plain JSON. It is kept under a key made of
both, of the weights of the models it looks at and of the recipe it uses, so that nothing stale is
ever read back, and a file is written whole or not at all, so that a killed run loses only what was
under way.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnninterpreter.datasets._storage import atomic_path
from gnninterpreter.models import Bundle, GraphClassifier, load

__all__ = ["KINDS", "Store", "Unit", "bundle", "classifier", "fingerprint", "unit"]

SCHEMA = 2
KINDS: dict[str, str] = {
    "ours": "explaining",
    "xgnn": "explaining",
    "random": "explaining",
    "race": "racing",
    "reach": "racing",
    "complexity": "racing",
    "gabriel": "classifying",
    "bias": "classifying",
    "sizes": "classifying",
    "examples": "classifying",
    "attach": "attaching",
    "nitro": "attaching",
}
"""Kinds of work, with the module of `experiments.paper.work` that has their function."""


@dataclass(frozen=True)
class Unit:
    """One piece of work.

    Args:
        kind: One of `KINDS`.
        arguments: Names and values, in the order of the names.
        cost: Seconds it is expected to take on one core; only the order of work depends on it.
    """

    kind: str
    arguments: tuple[tuple[str, Any], ...]
    cost: float = 1.0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unit) and (self.kind, self.arguments) == (
            other.kind,
            other.arguments,
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.arguments))

    @property
    def name(self) -> str:
        """A short line for people."""
        return f"{self.kind}: " + ", ".join(f"{k}={v}" for k, v in self.arguments)

    def inputs(self) -> dict[str, Any]:
        """Everything the value depends on, as JSON values."""
        module = _module(self.kind)
        given = dict(self.arguments)
        recipe = getattr(module, "recipe_key", None)
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "arguments": json.loads(json.dumps(given)),
            "model": fingerprint(module.model_of(self.kind, given)),
            "recipe": None if recipe is None else recipe(self.kind, given),
        }

    def compute(self) -> Any:
        """Do the work and return its value."""
        return _plain(getattr(_module(self.kind), self.kind)(**dict(self.arguments)))


def unit(kind: str, cost: float = 1.0, /, **arguments: Any) -> Unit:
    """Name a piece of work.

    Example:
        >>> unit("nitro", seed=0, count=10).name
        'nitro: count=10, seed=0'
    """
    return Unit(kind, tuple(sorted(arguments.items())), cost)


@dataclass(frozen=True)
class Store:
    """Values of units, one JSON file each.

    Args:
        folder: Where they lie.
    """

    folder: Path

    def path(self, work: Unit) -> Path:
        """The file of a unit."""
        inputs = work.inputs()
        digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:16]
        named = [str(value) for _, value in work.arguments if isinstance(value, str)]
        words = "-".join([work.kind, *named]).replace(" ", "_")
        return self.folder / f"{words}-{digest}.json"

    def read(self, work: Unit) -> Any:
        """The stored value; None where there is none."""
        try:
            return json.loads(self.path(work).read_text(encoding="utf-8"))["value"]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def fetch(self, work: Unit) -> Any:
        """The stored value, computed and stored first where there is none."""
        value = self.read(work)
        if value is None:
            started, cpu = time.perf_counter(), time.process_time()
            value = work.compute()
            record = {
                "inputs": work.inputs(),
                "seconds": round(time.perf_counter() - started, 3),
                "cpu_seconds": round(time.process_time() - cpu, 3),
                "value": value,
            }
            with atomic_path(self.path(work)) as temporary:
                temporary.write_text(json.dumps(record, allow_nan=False) + "\n", encoding="utf-8")
        return value

    def missing(self, units: Iterable[Unit]) -> list[Unit]:
        """Those that are not stored, each once, the dearest first."""
        wanted = [work for work in dict.fromkeys(units) if not self.path(work).is_file()]
        return sorted(wanted, key=lambda work: -work.cost)


@lru_cache(maxsize=8)
def bundle(dataset: str) -> Bundle:
    """The bundled classifier of a data set."""
    return load(dataset)


@lru_cache(maxsize=8)
def classifier(dataset: str) -> GraphClassifier:
    """The same, ready to score graphs."""
    return GraphClassifier(bundle(dataset).model, bundle(dataset).spec)


@lru_cache(maxsize=8)
def fingerprint(dataset: str) -> str:
    """What tells one version of a bundled model from another: a hash of all its weights."""
    found = hashlib.sha256()
    tensors: Mapping[str, Any] = bundle(dataset).model.state_dict()
    for name in sorted(tensors):
        found.update(name.encode())
        found.update(tensors[name].detach().cpu().contiguous().numpy().tobytes())
    return f"{dataset}-{found.hexdigest()[:16]}"


def _module(kind: str) -> Any:
    return importlib.import_module(f"gnninterpreter.experiments.paper.work.{KINDS[kind]}")


def _plain(value: Any) -> Any:
    """JSON values, with None for what is not finite."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
