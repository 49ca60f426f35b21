"""Models that the recipe was never tuned on, trained where they are needed."""

from gnninterpreter.evaluation.zoo.graphs import SPECS
from gnninterpreter.evaluation.zoo.models import ZOO, Subject, ZooModel, trained

__all__ = ["SPECS", "ZOO", "Subject", "ZooModel", "trained"]
