"""How good a graph is as an answer: targets, terms and the objective they form."""

from gnninterpreter.objective.aim import Aim, Aims, beside
from gnninterpreter.objective.base import Iterate, Proposals, Term
from gnninterpreter.objective.boundary import BoundaryTarget
from gnninterpreter.objective.certainty import Certainty, RawScore
from gnninterpreter.objective.likeness import Likeness, Typical
from gnninterpreter.objective.memory import Memory, graph_keys
from gnninterpreter.objective.objective import Objective, Weighted
from gnninterpreter.objective.regularisers import Budget, Connectivity, Entropy, LatentNorm
from gnninterpreter.objective.schedules import Constant, Ramp, Schedule, WarmUp
from gnninterpreter.objective.target import ClassTarget, LabelTarget, Target, target_from_json
from gnninterpreter.objective.valence import Valence
from gnninterpreter.objective.value import ValueTarget
from gnninterpreter.objective.wholeness import Size, Wholeness, violation

__all__ = [
    "Aim",
    "Aims",
    "BoundaryTarget",
    "Budget",
    "Certainty",
    "ClassTarget",
    "Connectivity",
    "Constant",
    "Entropy",
    "Iterate",
    "LabelTarget",
    "LatentNorm",
    "Likeness",
    "Memory",
    "Objective",
    "Proposals",
    "Ramp",
    "RawScore",
    "Schedule",
    "Size",
    "Target",
    "Term",
    "Typical",
    "Valence",
    "ValueTarget",
    "WarmUp",
    "Weighted",
    "Wholeness",
    "beside",
    "graph_keys",
    "target_from_json",
    "violation",
]
