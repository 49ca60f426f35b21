"""Probability distributions over graphs, R of them in one batch, and the streams they draw from."""

from gnninterpreter.distribution.distribution import GraphDistribution
from gnninterpreter.distribution.narrowing import Narrowing
from gnninterpreter.distribution.start import (
    around_density,
    around_graphs,
    centred,
    from_graphs,
    uniform_start,
)
from gnninterpreter.distribution.streams import Streams

__all__ = [
    "GraphDistribution",
    "Narrowing",
    "Streams",
    "around_density",
    "around_graphs",
    "centred",
    "from_graphs",
    "uniform_start",
]
