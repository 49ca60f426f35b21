"""Searching for explanations: recipes, gradients, the loop, local search and settling."""

from gnninterpreter.optim.gradient import RelaxedGradient, ScoreFunctionGradient
from gnninterpreter.optim.judge import Judge, Judgement
from gnninterpreter.optim.loop import History, Reason, gradient_search
from gnninterpreter.optim.recipe import Recipe, Sizes, WeightedTerm
from gnninterpreter.optim.refine import refine
from gnninterpreter.optim.schedules import Constant, Ramp, WarmUp
from gnninterpreter.optim.search import SearchResult, search
from gnninterpreter.optim.settle import settle
from gnninterpreter.optim.watch import Callback, Look, Watch

__all__ = [
    "Callback",
    "Constant",
    "History",
    "Judge",
    "Judgement",
    "Look",
    "Ramp",
    "Reason",
    "Recipe",
    "RelaxedGradient",
    "ScoreFunctionGradient",
    "SearchResult",
    "Sizes",
    "WarmUp",
    "Watch",
    "WeightedTerm",
    "gradient_search",
    "refine",
    "search",
    "settle",
]
