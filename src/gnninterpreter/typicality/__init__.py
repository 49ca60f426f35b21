"""Typicality: could a graph pass for a real one, and the real graphs where a search can begin."""

from gnninterpreter.typicality.bank import TypicalityBank
from gnninterpreter.typicality.beside import SideBySide, spans_of
from gnninterpreter.typicality.either import EitherBank, either
from gnninterpreter.typicality.environments import Environments
from gnninterpreter.typicality.exemplars import Exemplars, choose_exemplars, distinct_rows
from gnninterpreter.typicality.fitting import fit
from gnninterpreter.typicality.kinds import Kinds
from gnninterpreter.typicality.measuring import BAR, Measuring, Strangeness
from gnninterpreter.typicality.references import Certain, References, references
from gnninterpreter.typicality.sizes import showing_nodes
from gnninterpreter.typicality.typicality import FEWEST_GRAPHS, Typicality

__all__ = [
    "BAR",
    "FEWEST_GRAPHS",
    "Certain",
    "EitherBank",
    "Environments",
    "Exemplars",
    "Kinds",
    "Measuring",
    "References",
    "SideBySide",
    "Strangeness",
    "Typicality",
    "TypicalityBank",
    "choose_exemplars",
    "distinct_rows",
    "either",
    "fit",
    "references",
    "showing_nodes",
    "spans_of",
]
