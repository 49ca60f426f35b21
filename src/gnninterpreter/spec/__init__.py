"""What graphs may look like: feature blocks, direction, classes; written by hand or inferred."""

import gnninterpreter.spec.structure  # noqa: F401 - registers what comes with the library
from gnninterpreter.spec.blocks import ONES, PALETTE, Block, Categorical, Continuous, Derived
from gnninterpreter.spec.data import GraphList, graph_list
from gnninterpreter.spec.labels import Labels, read_labels
from gnninterpreter.spec.spec import GraphSpec

__all__ = [
    "ONES",
    "PALETTE",
    "Block",
    "Categorical",
    "Continuous",
    "Derived",
    "GraphList",
    "GraphSpec",
    "Labels",
    "graph_list",
    "read_labels",
]
