"""Odd calls: whatever is passed, the answer is a result or one of the package's own errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data

import gnninterpreter as gi
from gnninterpreter.audit import audit, load_graphs
from gnninterpreter.chem import from_smiles, read_smiles
from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.explanation import Explanation
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.objective import BoundaryTarget, ClassTarget, LabelTarget, ValueTarget
from gnninterpreter.objective.target import target_from_json
from gnninterpreter.sweep.spec import (
    ModelSource,
    SweepSpec,
    change_recipe,
    load_recipe,
    make_spec,
    read_sweep,
)
from gnninterpreter.sweep.tune import TuneSpec, read_tuning
from tests.cli.lab import Degrees, graphs
from tests.fuzzing import FUZZ

SPEC = gi.GraphSpec(nodes=(gi.Continuous(1, 1.0, 1.0),), class_names=("sparse", "dense"))
LONGEST = 5.0
SWEEP = SweepSpec((ModelSource("mutag"),))
TABLE = "table.csv"


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
        "modules": nn.Sequential(nn.Linear(1, 1)),
        "Data": Data(),
        "batch": Batch.from_data_list(graphs()),
        "meta": torch.ones(1, 1, device="meta"),
        "lines": "a\nb",
        "slice": slice(0, 1),
        "range": range(2),
    }


ARGUMENTS = (
    "targets", "restarts", "seed", "spec", "task", "recipe", "class_names", "feature_names",
    "peers", "class_statistics", "gradient", "device", "embedding", "forward", "callbacks",
    "progress", "resume", "max_memory", "features",
)  # fmt: skip


def stop(_: Any) -> bool:
    """Ends a search at once: what is tried is how it is called."""
    return True


def explain(model: Any = None, dataset: Any = None, **given: Any) -> Any:
    model = Degrees() if model is None else model
    settings = {"restarts": 1, "targets": 0, "progress": False, "callbacks": (stop,)}
    return gi.explain(model, graphs() if dataset is None else dataset, **settings | given)


def wrong(calls: dict[str, Callable[[], Any]]) -> list[str]:
    """Make calls, and name those that end late, or in no result and no sentence of ours."""
    found = []
    for what, call in calls.items():
        started, said = time.process_time(), "a result"
        try:
            call()
        except GNNInterpreterError as error:
            said = str(error)
        except Exception as error:
            found.append(f"{what} ends in {type(error).__name__}: {error!s:.200}")
        if not 0 < len(said) < 2_000 or len(said.splitlines()) > 1:
            found.append(f"{what} says {said!r:.200} in {len(said)} characters")
        if (taken := time.process_time() - started) > LONGEST:
            found.append(f"{what} takes {taken:.1f} s")
    return found


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(TABLE).write_text("smiles,y\nCCO,1\nCC,0\n")


@pytest.fixture(scope="module")
def result() -> gi.ExplanationSet:
    return explain()


# A function that fails when it is called fails as the user wrote it.
THEIR_OWN = {("callbacks", label) for label in ("type", "function", "module", "modules")}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_any_argument(name: str, record_property: Callable[[str, object], None]) -> None:
    calls = {
        f"{name}={label}": partial(explain, **{name: value})
        for label, value in odd(name).items()
        if (name, label) not in THEIR_OWN
    }
    record_property(name, {"calls": len(calls)})
    assert wrong(calls) == []


def graph(**fields: Any) -> Data:
    """A graph of which some fields are odd."""
    return Data(**{**graphs()[0].to_dict(), "num_nodes": 4, **fields})


QUESTIONS: dict[str, Callable[[gi.ExplanationSet, Explanation, Any], Any]] = {
    "sample": lambda result, one, value: (one.sample(2, seed=value), one.sample(value)),
    "exemplars": lambda result, one, value: one.exemplars(value),
    "variations": lambda result, one, value: one.variations(value),
    "modes": lambda result, one, value: one.modes(value),
    "export": lambda result, one, value: one.export(value),
    "picture": lambda result, one, value: one.visualize_graph(value),
    "save": lambda result, one, value: result.save(value),
    "report": lambda result, one, value: result.report(value),
    "item": lambda result, one, value: result[value],
    "to": lambda result, one, value: result.to(value),
    "fidelity": lambda result, one, value: result.fidelity(value),
    "fidelity.of": lambda result, one, value: result.fidelity(graphs(), model=value),
    "fidelity.form": lambda result, one, value: result.fidelity(graphs(), form=value),
    "fidelity.most": lambda result, one, value: result.fidelity(graphs(), most=value),
    "fidelity.target": lambda result, one, value: result.fidelity(graphs(), target=value),
    "explain_graph": lambda result, one, value: result.explain_graph(value),
    "explain_graph.of": lambda result, one, value: result.explain_graph(graphs()[0], model=value),
    "explain_graph.seed": lambda result, one, value: result.explain_graph(graphs()[0], seed=value),
    "explain_graph.x": lambda result, one, value: result.explain_graph(graph(x=value)),
    "explain_graph.edges": lambda result, one, value: result.explain_graph(graph(edge_index=value)),
    "compare": lambda result, one, value: gi.compare(result, value),
    "compare.graphs": lambda result, one, value: gi.compare(result, result, dataset=value),
    "compare.names": lambda result, one, value: gi.compare(result, result, names=value),
    "compare.models": lambda result, one, value: gi.compare(result, result, models=value),
    "compare.report": lambda result, one, value: gi.compare(result, result).report(value),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_any_question_to_a_result(
    result: gi.ExplanationSet, name: str, record_property: Callable[[str, object], None]
) -> None:
    ask = partial(QUESTIONS[name], result, result[0])
    calls = {f"{name}({label})": partial(ask, value) for label, value in odd(name).items()}
    record_property(name, {"calls": len(calls)})
    assert wrong(calls) == []


LOADERS: dict[str, Callable[[Any], Any]] = {
    "dataset.x": lambda value: explain(dataset=[graph(x=value)] * 4),
    "dataset.edge_index": lambda value: explain(dataset=[*graphs(), graph(edge_index=value)]),
    "dataset.edge_attr": lambda value: explain(dataset=[*graphs(), graph(edge_attr=value)]),
    "dataset.y": lambda value: explain(dataset=[*graphs(), graph(y=value)]),
    "peers.one": lambda value: explain(peers=[value]),
    "targets.one": lambda value: explain(targets=[value]),
    "targets.pair": lambda value: explain(targets=(0, value)),
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
    "register_derived": lambda value: gi.register_derived(value, len),
    "register_derived.compute": lambda value: gi.register_derived("odd", value),
    "register_derived.soft": lambda value: gi.register_derived("odd", len, value),
    "Derived": gi.Derived,
    "Derived.width": lambda value: gi.Derived("odd", value),
    "ClassTarget.index": lambda value: explain(targets=ClassTarget(value, "x")),
    "ClassTarget.name": lambda value: explain(targets=ClassTarget(0, value)),
    "LabelTarget": lambda value: explain(targets=LabelTarget(value, "x")),
    "ValueTarget.aim": lambda value: explain(targets=ValueTarget(0, "x", value, 1.0, 1.0)),
    "ValueTarget.reach": lambda value: explain(targets=ValueTarget(0, "x", "max", value, 1.0)),
    "ValueTarget.scale": lambda value: explain(targets=ValueTarget(0, "x", 1, 1.0, 1.0, "", value)),
    "BoundaryTarget": lambda value: explain(targets=BoundaryTarget(0, "x", value, ("a", "b"))),
    "BoundaryTarget.names": lambda value: explain(targets=BoundaryTarget(0, "x", 1, value)),
    "from_smiles": lambda value: from_smiles(value, "pyg"),
    "from_smiles.features": lambda value: from_smiles("CCO", value),
    "from_smiles.hydrogens": lambda value: from_smiles("CCO", SPEC, hydrogens=value),
    "read_smiles": lambda value: read_smiles(value, "y"),
    "read_smiles.labels": lambda value: read_smiles(TABLE, value),
    "read_smiles.features": lambda value: read_smiles(TABLE, "y", value),
    "read_smiles.column": lambda value: read_smiles(TABLE, "y", column=value),
    "read_sweep": read_sweep,
    "read_tuning": read_tuning,
    "load_recipe": load_recipe,
    "change_recipe": lambda value: change_recipe(gi.Recipe.auto(), {"iterations": value}),
    "change_recipe.phase": lambda value: change_recipe(gi.Recipe.auto(), {"anneal": value}),
    "SweepSpec.models": lambda value: make_spec({"models": value}, Path()),
    "SweepSpec.checkpoints": lambda value: make_spec(
        {"models": [{"model": "a:b", "checkpoints": value}]}, Path()
    ),
    "SweepSpec.seeds": lambda value: make_spec({"models": ["mutag"], "seeds": value}, Path()),
    "SweepSpec.recipes": lambda value: make_spec({"models": ["mutag"], "recipes": value}, Path()),
    "SweepSpec.data": lambda value: make_spec({"models": ["mutag"], "data": value}, Path()),
    "TuneSpec.space": lambda value: TuneSpec(SWEEP, gi.Recipe.auto(), value),
    "TuneSpec.low": lambda value: TuneSpec(
        SWEEP, gi.Recipe.auto(), {"iterations": {"low": value, "high": 5}}
    ),
    "TuneSpec.trials": lambda value: TuneSpec(SWEEP, gi.Recipe.auto(), {"iterations": [1]}, value),
    "GraphSpec.max_nodes": lambda value: gi.GraphSpec(class_names=("a", "b"), max_nodes=value),
}


@pytest.mark.parametrize("name", LOADERS)
def test_any_value(name: str, record_property: Callable[[str, object], None]) -> None:
    calls = {f"{name}({label})": partial(LOADERS[name], v) for label, v in odd(name).items()}
    record_property(name, {"calls": len(calls)})
    assert wrong(calls) == []
