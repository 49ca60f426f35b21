"""Certain and typical? Every class of every model beside real graphs and other methods.

The modules `summary` and `discrepancy` are imported by their own names: rows are stored
under the code that this package imports, and a new table is no reason to measure again.
"""

from gnninterpreter.experiments.realism.compute import configs_of, graphs_file, realism
from gnninterpreter.experiments.realism.gins import Judge, places_of, standing
from gnninterpreter.experiments.realism.rows import BENCH, METHODS, RealismConfig, RealismRow

__all__ = [
    "BENCH",
    "METHODS",
    "Judge",
    "RealismConfig",
    "RealismRow",
    "configs_of",
    "graphs_file",
    "places_of",
    "realism",
    "standing",
]
