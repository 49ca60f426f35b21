"""Training: from a data set to a classifier worth explaining, and the bundled ones anew."""

from gnninterpreter.training.splits import Split, stratified_split
from gnninterpreter.training.trainer import EpochReport, TrainingConfig, TrainingResult, train

__all__ = [
    "EpochReport",
    "Split",
    "TrainingConfig",
    "TrainingResult",
    "stratified_split",
    "train",
]
