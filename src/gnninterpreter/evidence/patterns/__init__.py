"""Evidence from real graphs: cores, what they cause, exemplars, and what they account for.

`RealGraphs` reads the graphs once; `find_cores`, `exemplars` and `fidelity` ask them.
"""

from gnninterpreter.evidence.patterns.causes import Effect
from gnninterpreter.evidence.patterns.cores import Core, Cores, find_cores
from gnninterpreter.evidence.patterns.showing import Exemplar, find_exemplars
from gnninterpreter.evidence.patterns.fidelity import Fidelity, fidelity_of
from gnninterpreter.evidence.patterns.matching import Matches, PatternIndex
from gnninterpreter.evidence.patterns.pieces import CoreSearch
from gnninterpreter.evidence.patterns.real import RealGraphs

__all__ = [
    "Core",
    "CoreSearch",
    "Cores",
    "Effect",
    "Exemplar",
    "Fidelity",
    "Matches",
    "PatternIndex",
    "RealGraphs",
    "find_exemplars",
    "fidelity_of",
    "find_cores",
]
