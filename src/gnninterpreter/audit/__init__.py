"""The audit: ways in which a model is certain and wrong, ranked, with the graphs that prove it."""

from gnninterpreter.audit.audit import audit
from gnninterpreter.audit.context import oracle_of
from gnninterpreter.audit.findings import Audit, Evidence, Finding, Kind, Severity, load_graphs
from gnninterpreter.audit.patterns import Pattern, true_patterns
from gnninterpreter.audit.retraining import retrain

__all__ = [
    "Audit",
    "Evidence",
    "Finding",
    "Kind",
    "Pattern",
    "Severity",
    "audit",
    "load_graphs",
    "oracle_of",
    "retrain",
    "true_patterns",
]
