"""What is being optimised: one term a file, each a loss for each restart."""

from gnninterpreter.objective.base import Goal, Iterate, Term
from gnninterpreter.objective.budget import Budget, RelativeBudget
from gnninterpreter.objective.class_score import ClassLogProbability, ClassScore
from gnninterpreter.objective.connectivity import Connectivity
from gnninterpreter.objective.entropy import Entropy
from gnninterpreter.objective.norms import LatentNorm
from gnninterpreter.objective.similarity import EmbeddingSimilarity

__all__ = [
    "Budget",
    "ClassLogProbability",
    "ClassScore",
    "Connectivity",
    "EmbeddingSimilarity",
    "Entropy",
    "Goal",
    "Iterate",
    "LatentNorm",
    "RelativeBudget",
    "Term",
]
