"""The figures that explainers are compared by: probability, likeness, validity, diversity."""

from gnninterpreter.experiments.metrics.discrepancy import (
    clustering_mmd,
    degree_mmd,
    mmd,
    spectrum_mmd,
)
from gnninterpreter.experiments.metrics.diversity import Diversity, diversity
from gnninterpreter.experiments.metrics.likeness import Likeness, likeness, validation_score
from gnninterpreter.experiments.metrics.measure import Metrics, Reference, measure
from gnninterpreter.experiments.metrics.quality import SeedSummary, class_probability, summarize
from gnninterpreter.experiments.metrics.validity import Validity, obeys_valencies, validity

__all__ = [
    "Diversity",
    "Likeness",
    "Metrics",
    "Reference",
    "SeedSummary",
    "Validity",
    "class_probability",
    "clustering_mmd",
    "degree_mmd",
    "diversity",
    "likeness",
    "measure",
    "mmd",
    "obeys_valencies",
    "spectrum_mmd",
    "summarize",
    "validation_score",
    "validity",
]
