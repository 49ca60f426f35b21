"""The paper's evaluation, repeated by command: every table and figure, with the published figures.

>>> from gnninterpreter.experiments.paper import STUDIES
>>> STUDIES[0]
'statistics'
"""

from gnninterpreter.experiments.paper.compute import STUDIES, compute, units_of
from gnninterpreter.experiments.paper.run import run
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.paper.tables import Row, Table, Value

__all__ = ["STUDIES", "Row", "Settings", "Table", "Value", "compute", "run", "units_of"]
