"""The audit: ways in which a model is certain and wrong, ranked, with the graphs that prove it."""

from gnninterpreter.audit.audit import audit
from gnninterpreter.audit.findings import Audit, Evidence, Finding, Kind, Severity
from gnninterpreter.audit.lookalikes import covers, lookalikes, switches
from gnninterpreter.audit.retraining import retrain
from gnninterpreter.audit.truth import ground_truth

__all__ = [
    "Audit",
    "Evidence",
    "Finding",
    "Kind",
    "Severity",
    "audit",
    "covers",
    "ground_truth",
    "lookalikes",
    "retrain",
    "switches",
]
