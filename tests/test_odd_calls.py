"""Odd calls: whatever is passed, the answer is a result or one of the package's own errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data

import gnninterpreter as gi
from gnninterpreter.audit import audit, load_graphs
from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.explanation import Explanation
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.objective.target import target_from_json
from tests.cli.lab import Degrees, graphs
from tests.fuzzing import FUZZ

SPEC = gi.GraphSpec(nodes=(gi.Continuous(1, 1.0, 1.0),), class_names=("sparse", "dense"))
LONGEST = 5.0


# Values that nobody should pass for anything, and that somebody will.
def odd(name: str) -> dict[str, Any]:
    """All of them with ``make fuzz``; else a part, another one for each place they go to."""
    return {
        label: v
        for i, (label, v) in enumerate(values().items())
        if FUZZ or (i + len(name)) % 4 == 0
    }


def values() -> dict[str, Any]:
    return {
        "None": None,
        "true": True,
        "false": False,
        "zero": 0,
        "minus one": -1,
        "2**31": 2**31,
        "10**30": 10**30,
        "3.5": 3.5,
        "nan": float("nan"),
        "inf": float("inf"),
        "complex": 1j,
        "empty text": "",
        "text": "x",
        "superscript": "²",
        "nul": "a\0b",
        "long text": "x" * 10_000,
        "bytes": b"x",
        "empty list": [],
        "list": [1, "x", None],
        "nested": [[[[]]]],
        "tuple": (0, 1),
        "three": (0, 1, 2),
        "dict": {"a": 1},
        "set": {1, 2},
        "np.int64": np.int64(0),
        "np.float32": np.float32(0.5),
        "np.array": np.array([0, 1]),
        "np.str": np.str_("dense"),
        "tensor": torch.tensor(0),
        "tensors": torch.tensor([0, 1]),
        "real tensor": torch.tensor(0.5),
        "object": object(),
        "type": int,
        "function": len,
        "lambda": lambda *_: None,
        "generator": (i for i in range(2)),
        "path": Path("x"),
        "module": nn.Linear(1, 1),
        "Data": Data(),
        "slice": slice(0, 1),
        "range": range(2),
    }


ARGUMENTS = (
    "targets", "restarts", "seed", "spec", "task", "recipe", "class_names", "feature_names",
    "peers", "class_statistics", "gradient", "device", "embedding", "forward", "callbacks",
    "progress", "resume", "max_memory",
)  # fmt: skip


def stop(_: Any) -> bool:
    """Ends a search at once: what is tried is how it is called."""
    return True


def explain(model: Any = None, dataset: Any = None, **given: Any) -> Any:
    model = Degrees() if model is None else model
    settings = {"restarts": 1, "targets": 0, "progress": False, "callbacks": (stop,)}
    return gi.explain(model, graphs() if dataset is None else dataset, **settings | given)


def answered(what: str, call: Callable[[], Any]) -> None:
    """Make a call: it has to end in time, in a result or an error of ours with one sentence."""
    started = time.process_time()
    said = "a result"
    try:
        call()
    except GNNInterpreterError as error:
        said = str(error)
    except Exception as error:
        pytest.fail(f"{what} ends in {type(error).__name__}: {error!s:.200}")
    assert 0 < len(said) < 2_000, what
    assert time.process_time() - started < LONGEST, what


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def result() -> gi.ExplanationSet:
    return explain()


@pytest.fixture(scope="module")
def one(result: gi.ExplanationSet) -> Explanation:
    return result[0]


# A function that fails when it is called fails as the user wrote it.
THEIR_OWN = {("callbacks", label) for label in ("type", "function", "module")}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_any_argument(name: str) -> None:
    for label, value in odd(name).items():
        if (name, label) not in THEIR_OWN:
            answered(f"{name}={label}", lambda value=value: explain(**{name: value}))


@pytest.mark.parametrize(
    "name", ["sample", "exemplars", "save", "report", "fidelity", "item", "to"]
)
def test_any_question_to_a_result(result: gi.ExplanationSet, one: Explanation, name: str) -> None:
    calls: dict[str, Callable[[Any], Any]] = {
        "sample": lambda value: (one.sample(2, seed=value), one.sample(value)),
        "exemplars": lambda value: one.exemplars(value),
        "save": lambda value: result.save(value),
        "report": lambda value: result.report(value),
        "fidelity": lambda value: result.fidelity(value),
        "item": lambda value: result[value],
        "to": lambda value: result.to(value),
    }
    for label, value in odd(name).items():
        answered(f"{name}({label})", lambda value=value: calls[name](value))


LOADERS: dict[str, Callable[[Any], Any]] = {
    "load": gi.load,
    "models.load": gi.models.load,
    "models.load_bundle": gi.models.load_bundle,
    "datasets.load": gi.datasets.load,
    "audit.load_graphs": load_graphs,
    "graph_from_json": lambda value: graph_from_json(value, SPEC),
    "target_from_json": target_from_json,
    "Recipe.from_json": gi.Recipe.from_json,
    "GraphSpec.from_json": gi.GraphSpec.from_json,
    "GraphSpec.from_dataset": gi.GraphSpec.from_dataset,
    "model": lambda value: explain(model=value if value is not None else 0),
    "dataset": lambda value: explain(dataset=value if value is not None else 0),
    "hosts": lambda value: audit(Degrees(), graphs(), hosts=value, callbacks=(stop,)),
    "max_nodes": lambda value: explain(recipe=gi.Recipe.auto(max_nodes=value)),
    "max_edges": lambda value: gi.Recipe.auto(max_edges=value),
    "iterations": lambda value: gi.Recipe.auto(iterations=value),
    "stop_score": lambda value: gi.Recipe.auto(stop_score=value),
    "without": lambda value: gi.Recipe.auto().without(value),
    "Categorical": gi.Categorical,
    "Categorical.names": lambda value: gi.Categorical(2, names=value),
    "Continuous": gi.Continuous,
    "Continuous.low": lambda value: gi.Continuous(1, value, 1.0),
    "GraphSpec.nodes": lambda value: gi.GraphSpec(nodes=value, class_names=("a", "b")),
    "GraphSpec.class_names": lambda value: gi.GraphSpec(class_names=value),
    "GraphSpec.max_nodes": lambda value: gi.GraphSpec(class_names=("a", "b"), max_nodes=value),
}


@pytest.mark.parametrize("name", LOADERS)
def test_any_value(name: str) -> None:
    for label, value in odd(name).items():
        answered(f"{name}({label})", lambda value=value: LOADERS[name](value))
