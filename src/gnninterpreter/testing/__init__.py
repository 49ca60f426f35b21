"""Small helpers to test a model or a layer of your own against the laws of the relaxation.

>>> from torch_geometric.nn import GCNConv
>>> from gnninterpreter.spec import Categorical, GraphSpec
>>> model = TinyClassifier(GCNConv(3, 4), 4)
>>> assert_discrete_consistency(model, GraphSpec(nodes=(Categorical(3),))) < 1e-4
True
"""

from gnninterpreter.testing.graphs import random_soft_graphs
from gnninterpreter.testing.laws import (
    assert_absent_means_absent,
    assert_discrete_consistency,
    discrete_error,
    path_error,
)
from gnninterpreter.testing.models import TinyClassifier

__all__ = [
    "TinyClassifier",
    "assert_absent_means_absent",
    "assert_discrete_consistency",
    "discrete_error",
    "path_error",
    "random_soft_graphs",
]
