"""What can be explained from the live page."""

from __future__ import annotations

from gnninterpreter.objective import BoundaryTarget, ClassTarget, ValueTarget
from gnninterpreter.web.backend import askable
from tests.web.conftest import SPEC

CLASSES = {"sparse": 0, "<b>dense</b>": 1}


def test_every_class_is_asked_for_by_its_number() -> None:
    assert askable(SPEC, []) == CLASSES


def test_what_the_run_has_explained_is_asked_for_as_it_was() -> None:
    pair = BoundaryTarget(0, "sparse | dense", 1, ("sparse", "<b>dense</b>"))
    dense = ClassTarget(1, "<b>dense</b>")
    asked = askable(SPEC, [pair, dense])
    assert asked == {"sparse": 0, "<b>dense</b>": dense, "sparse | dense": pair}


def test_a_regression_has_no_classes() -> None:
    ends = [ValueTarget(0, "max", "max", 3.0, 1.0), ValueTarget(0, "2", 2.0, 2.0, 0.1)]
    assert askable(SPEC, ends) == {"max": ends[0], "2": ends[1]}
