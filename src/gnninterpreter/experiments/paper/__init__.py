"""The paper's evaluation, repeated by command: every table and figure, with the published figures.

>>> from gnninterpreter.experiments.paper import STUDIES
>>> STUDIES[0]
'statistics'
"""

from gnninterpreter.experiments.paper.compute import STUDIES, computations_of, compute
from gnninterpreter.experiments.paper.run import run
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.paper.tables import Row, Table, Value

__all__ = ["STUDIES", "Row", "Settings", "Table", "Value", "computations_of", "compute", "run"]
