"""What can be explained from the live page."""

from __future__ import annotations

from gnninterpreter.objective.target import BoundaryTarget, ClassTarget, ValueTarget
from gnninterpreter.web.targets import askable
from tests.web.conftest import SPEC

CLASSES = {"sparse": 0, "<b>dense</b>": 1}


def test_every_class_is_asked_for_by_its_number() -> None:
    assert askable(SPEC, []) == CLASSES
    assert askable(SPEC, [ClassTarget(1, "<b>dense</b>")]) == CLASSES


def test_a_boundary_of_the_run_is_asked_for_by_its_classes() -> None:
    pair = BoundaryTarget(0, "sparse | dense", 1, ("sparse", "<b>dense</b>"))
    assert askable(SPEC, [pair]) == {**CLASSES, "sparse | dense": [("sparse", "<b>dense</b>")]}


def test_a_regression_has_no_classes() -> None:
    ends = [ValueTarget(0, "highest", "max", 3.0, 1.0), ValueTarget(0, "near 2", 2.0, 2.0, 0.1)]
    assert askable(SPEC, ends) == {"highest": ["max"], "near 2": [2.0]}
