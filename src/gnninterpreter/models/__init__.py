"""Classifiers: how any user's model is read, and those that ship with the package.

>>> bundle = load("shape")  # doctest: +SKIP
>>> bundle.model, bundle.spec, bundle.statistics, bundle.scores  # doctest: +SKIP
"""

from __future__ import annotations

from gnninterpreter.models.architectures import (
    GATClassifier,
    GCNClassifier,
    GINEClassifier,
    NNConvClassifier,
)
from gnninterpreter.models.bundle import Bundle, bundled_names, load, load_bundle
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.scores import ClassificationScores, RegressionScores
from gnninterpreter.models.statistics import ClassStatistics

__all__ = [
    "Bundle",
    "ClassStatistics",
    "ClassificationScores",
    "GATClassifier",
    "GCNClassifier",
    "GINEClassifier",
    "GraphClassifier",
    "NNConvClassifier",
    "RegressionScores",
    "bundled_names",
    "load",
    "load_bundle",
]
