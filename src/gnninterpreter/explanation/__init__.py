"""What comes out: explanations, sets of them, and how they are stored."""

from gnninterpreter.explanation.explanation import Curve, Explanation, Probability
from gnninterpreter.explanation.explanation_set import Explainer, ExplanationSet
from gnninterpreter.explanation.modes import Mode, Restart, Variation
from gnninterpreter.explanation.sampler import DrawnSampler, LatentSampler, Sampler
from gnninterpreter.explanation.storage import load_run, save_run

__all__ = [
    "Curve",
    "DrawnSampler",
    "Explainer",
    "Explanation",
    "ExplanationSet",
    "LatentSampler",
    "Mode",
    "Probability",
    "Restart",
    "Sampler",
    "Variation",
    "load_run",
    "save_run",
]
