"""The examples in the docstrings run, and say what they say."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = [
    "gnninterpreter.spec.data",
    "gnninterpreter.spec.inference",
    "gnninterpreter.errors",
    "gnninterpreter.graphs",
    "gnninterpreter.spec",
    "gnninterpreter.models.final_operation",
    "gnninterpreter.models.frozen",
    "gnninterpreter.models.calling",
    "gnninterpreter.models.classifier",
    "gnninterpreter.models.embedding",
    "gnninterpreter.models.outputs",
    "gnninterpreter.models.statistics",
    "gnninterpreter.relax.candidates",
    "gnninterpreter.relax.model",
    "gnninterpreter.relax.probe",
    "gnninterpreter.relax.reductions",
    "gnninterpreter.relax.relaxation",
    "gnninterpreter.testing",
    "gnninterpreter.testing.models",
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    failures, _ = doctest.testmod(import_module(name), raise_on_error=False)
    assert failures == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [t for name in MODULES for t in finder.find(import_module(name)) if t.examples]
    assert len(found) >= 7
