"""Running an unmodified model on soft graphs, with the guarantee that hard ones are exact."""

from gnninterpreter.relax.model import RelaxedModel
from gnninterpreter.relax.probe import ProbeReport, probe

__all__ = ["ProbeReport", "RelaxedModel", "probe"]
