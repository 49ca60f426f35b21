"""How good explanations are, on discrete graphs and by the native model only.

>>> from gnninterpreter.evaluation import lookalikes
>>> len(lookalikes([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], folds=2))
7
"""

from gnninterpreter.evaluation.coloured import (
    ColouredGraph,
    coloured_degrees,
    rounds_alike,
    wl_colours,
)
from gnninterpreter.evaluation.discrepancy import clustering_mmd, degree_mmd, mmd, spectrum_mmd
from gnninterpreter.evaluation.diversity import Diversity, diversity
from gnninterpreter.evaluation.joining import ClassCounts, class_counts, flip_rate, join
from gnninterpreter.evaluation.likeness import Likeness, likeness, validation_score
from gnninterpreter.evaluation.lookalikes import lookalikes
from gnninterpreter.evaluation.metrics import Metrics, Yardstick, measure
from gnninterpreter.evaluation.quality import (
    SeedSummary,
    class_probability,
    summarize,
    summarize_seeds,
)
from gnninterpreter.evaluation.random_graphs import (
    gabriel_edges,
    gilbert_edges,
    random_baseline,
    random_features,
    random_of_size,
)
from gnninterpreter.evaluation.validity import (
    MUTAG_VALENCIES,
    Validity,
    obeys_valencies,
    validity,
)

__all__ = [
    "MUTAG_VALENCIES",
    "ClassCounts",
    "ColouredGraph",
    "Diversity",
    "Likeness",
    "Metrics",
    "SeedSummary",
    "Validity",
    "Yardstick",
    "class_counts",
    "class_probability",
    "clustering_mmd",
    "coloured_degrees",
    "degree_mmd",
    "diversity",
    "flip_rate",
    "gabriel_edges",
    "gilbert_edges",
    "join",
    "likeness",
    "lookalikes",
    "measure",
    "mmd",
    "obeys_valencies",
    "random_baseline",
    "random_features",
    "random_of_size",
    "rounds_alike",
    "spectrum_mmd",
    "summarize",
    "summarize_seeds",
    "validation_score",
    "validity",
    "wl_colours",
]
