"""What graphs may look like: feature blocks, direction, classes; written by hand or inferred."""

from gnninterpreter.spec.spec import PALETTE, Block, Categorical, Continuous, GraphSpec

__all__ = ["PALETTE", "Block", "Categorical", "Continuous", "GraphSpec"]
