"""Evidence from real graphs: cores, what they cause, exemplars, and what they account for.

`RealGraphs` reads the graphs once; `find_cores`, `find_exemplars` and `fidelity_of` ask them;
`RealAnswers` puts together what one explanation keeps.
"""

from gnninterpreter.evidence.patterns.answers import Answers, RealAnswers
from gnninterpreter.evidence.patterns.causes import Effect
from gnninterpreter.evidence.patterns.core import Core, core_check
from gnninterpreter.evidence.patterns.cores import Cores, find_cores
from gnninterpreter.evidence.patterns.fidelity import Fidelity, fidelity_of
from gnninterpreter.evidence.patterns.matching import Matches, PatternIndex
from gnninterpreter.evidence.patterns.pieces import CoreSearch
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.showing import Exemplar, exemplar_check, find_exemplars
from gnninterpreter.evidence.patterns.single import FoundCore, GraphExplanation, explain_graph

__all__ = [
    "Answers",
    "Core",
    "CoreSearch",
    "Cores",
    "Effect",
    "Exemplar",
    "Fidelity",
    "FoundCore",
    "GraphExplanation",
    "Matches",
    "PatternIndex",
    "RealAnswers",
    "RealGraphs",
    "core_check",
    "exemplar_check",
    "explain_graph",
    "fidelity_of",
    "find_cores",
    "find_exemplars",
]
