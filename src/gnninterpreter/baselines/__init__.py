"""Other ways to explain a class, called like our own: XGNN and random graphs.

>>> from gnninterpreter.baselines import XGNN
>>> XGNN(max_nodes=6).max_nodes
6
"""

from gnninterpreter.baselines.baseline import Baseline, Random
from gnninterpreter.baselines.xgnn import XGNN

__all__ = ["XGNN", "Baseline", "Random"]
