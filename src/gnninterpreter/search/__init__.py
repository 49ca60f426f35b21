"""Searching for explanations: recipes, gradients, the loop, local search and settling."""

from gnninterpreter.search.gradient import RelaxedGradient, ScoreFunctionGradient
from gnninterpreter.search.judge import Judge, Judgement
from gnninterpreter.search.loop import History, Reason, gradient_search
from gnninterpreter.search.recipe import Recipe, Sizes, WeightedTerm
from gnninterpreter.search.refine import refine
from gnninterpreter.search.run import SearchResult, search
from gnninterpreter.search.schedules import Constant, Ramp, WarmUp
from gnninterpreter.search.settle import settle
from gnninterpreter.search.watch import Callback, Look, Watch

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
