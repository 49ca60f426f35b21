"""Other ways to explain a class, with the interface of our own: XGNN and random graphs.

>>> from gnninterpreter.baselines import XGNN
>>> XGNN(max_nodes=6).max_nodes
6
"""

from gnninterpreter.baselines.random import Random
from gnninterpreter.baselines.sampled import SampledExplanation
from gnninterpreter.baselines.xgnn import XGNN

__all__ = ["XGNN", "Random", "SampledExplanation"]
