"""Training: from a data set to a classifier worth explaining, and the bundled ones anew."""

from gnninterpreter.datasets.splits import Split, stratified_split
from gnninterpreter.training.judging import cross_validate, refresh_statistics, training_statistics
from gnninterpreter.training.recipes import RECIPES, measure_recipe, train_bundle, training_recipe
from gnninterpreter.training.trainer import EpochReport, TrainingConfig, TrainingResult, train

__all__ = [
    "RECIPES",
    "EpochReport",
    "Split",
    "TrainingConfig",
    "TrainingResult",
    "cross_validate",
    "measure_recipe",
    "refresh_statistics",
    "stratified_split",
    "train",
    "train_bundle",
    "training_recipe",
    "training_statistics",
]
