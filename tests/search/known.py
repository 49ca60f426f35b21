"""A small trained model whose real graphs are known, and problems of it."""

from __future__ import annotations

from functools import lru_cache

import torch

from gnninterpreter.distribution import Streams, uniform_start
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import Aim, ClassTarget
from gnninterpreter.search import Problem, Recipe, State
from gnninterpreter.spec import GraphSpec
from gnninterpreter.typicality import Typicality
from tests.tiny import shapes, trained_shapes

CLASSES = ("cycle", "star", "complete")
CYCLE, STAR = 0, 1


@lru_cache(maxsize=1)
def known_shapes() -> tuple[GraphClassifier, ClassStatistics]:
    """Twelve graphs of each class, which is enough to say what is typical."""
    model, _ = trained_shapes()
    real = shapes(range(4, 16))
    spec = GraphSpec.from_dataset(real, class_names=CLASSES)
    classifier = GraphClassifier(model, spec, examples=real)
    return classifier, ClassStatistics.from_dataset(classifier, real)


def typicality(target: int = CYCLE) -> Typicality:
    """What is known of the real graphs of a class."""
    found = known_shapes()[1].typicality[target]
    assert found is not None
    return found


def known_problem(target: int = CYCLE, *, statistics: bool = True, nodes: int = 12) -> Problem:
    """A class of the model, as `search` asks for it."""
    classifier, figures = known_shapes()
    profile = figures.profile(target) if statistics else None
    aim = Aim(ClassTarget(target, CLASSES[target]), nodes, 2.0 * nodes, profile, enough=0.995)
    return Problem(classifier, None, Recipe.auto().objective, aim)


def begun(of: Problem, restarts: int = 4) -> State:
    """Restarts before any phase, on as many candidate nodes as graphs may have."""
    streams = Streams(7, restarts)
    start = uniform_start(of.classifier.spec, of.aim.max_nodes, streams, torch.float32)
    return State.begin(start, of)
