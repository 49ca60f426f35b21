"""Certain and typical? Every class of every model beside real graphs and other methods."""

from gnninterpreter.experiments.realism.compute import configs_of, graphs_file, realism
from gnninterpreter.experiments.realism.gins import Judge, places_of, standing
from gnninterpreter.experiments.realism.rows import (
    METHODS,
    RealismConfig,
    RealismRow,
    read_rows,
)
from gnninterpreter.experiments.realism.summary import chart, summarize, unmet

__all__ = [
    "METHODS",
    "Judge",
    "RealismConfig",
    "RealismRow",
    "chart",
    "configs_of",
    "graphs_file",
    "places_of",
    "read_rows",
    "realism",
    "standing",
    "summarize",
    "unmet",
]
