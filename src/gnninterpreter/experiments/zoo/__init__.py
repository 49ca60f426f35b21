"""Models that the recipe was never tuned on, trained where they are needed."""

from gnninterpreter.experiments.zoo.graphs import SPECS
from gnninterpreter.experiments.zoo.models import ZOO, Trained, ZooModel, trained

__all__ = ["SPECS", "ZOO", "Trained", "ZooModel", "trained"]
