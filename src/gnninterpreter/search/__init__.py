"""Searching for explanations: recipes and the phases they are made of."""

from gnninterpreter.search.anneal import Anneal
from gnninterpreter.search.ascent import Ascent
from gnninterpreter.search.calibration import Calibrate
from gnninterpreter.search.callbacks import Callback, Monitor, Snapshot
from gnninterpreter.search.iterated import IteratedSearch
from gnninterpreter.search.local import LocalSearch
from gnninterpreter.search.problem import Evaluation, Problem
from gnninterpreter.search.recipe import Limits, Recipe
from gnninterpreter.search.result import SearchResult
from gnninterpreter.search.run import search, search_together
from gnninterpreter.search.shortcuts import FindShortcuts
from gnninterpreter.search.shrink import Shrink
from gnninterpreter.search.spread import Spread
from gnninterpreter.search.state import History, Phase, Reason, State
from gnninterpreter.search.together import groups, plan

__all__ = [
    "Anneal",
    "Ascent",
    "Calibrate",
    "Callback",
    "Evaluation",
    "FindShortcuts",
    "History",
    "IteratedSearch",
    "Limits",
    "LocalSearch",
    "Monitor",
    "Phase",
    "Problem",
    "Reason",
    "Recipe",
    "SearchResult",
    "Shrink",
    "Snapshot",
    "Spread",
    "State",
    "groups",
    "plan",
    "search",
    "search_together",
]
