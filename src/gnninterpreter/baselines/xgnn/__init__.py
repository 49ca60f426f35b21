"""XGNN, the reinforcement-learning method that the paper compares with."""

from gnninterpreter.baselines.xgnn.explainer import XGNN

__all__ = ["XGNN"]
