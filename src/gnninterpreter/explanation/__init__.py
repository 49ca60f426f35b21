"""What comes out: explanations, sets of them, and how they are stored."""

from gnninterpreter.explanation.explanation import Curve, Explanation, Mode, Probability, Restart
from gnninterpreter.explanation.explanation_set import ExplanationSet
from gnninterpreter.explanation.storage import load_run, save_run

__all__ = [
    "Curve",
    "Explanation",
    "ExplanationSet",
    "Mode",
    "Probability",
    "Restart",
    "load_run",
    "save_run",
]
