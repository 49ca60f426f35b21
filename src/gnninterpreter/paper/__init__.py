"""The paper's evaluation, repeated by command: every table and figure, with the published figures.

>>> from gnninterpreter.paper import STUDIES
>>> STUDIES[0]
'statistics'
"""

from gnninterpreter.paper.compute import STUDIES, compute, units_of
from gnninterpreter.paper.run import run
from gnninterpreter.paper.settings import Settings
from gnninterpreter.paper.tables import Row, Table, Value

__all__ = ["STUDIES", "Row", "Settings", "Table", "Value", "compute", "run", "units_of"]
