"""What judges explanations: figures from discrete graphs and the native model, and the verdict."""

from gnninterpreter.evidence.checks import audit_check, rule_check
from gnninterpreter.evidence.evidence import Check, Evidence
from gnninterpreter.evidence.gather import evidence_of
from gnninterpreter.evidence.joining import ClassCounts, class_counts, flip_rate, join
from gnninterpreter.evidence.random_graphs import (
    gabriel_edges,
    gilbert_edges,
    random_baseline,
    random_features,
    random_of_size,
)
from gnninterpreter.evidence.reaching import Rule, rule_of
from gnninterpreter.evidence.verdict import Verdict, verdict_on

__all__ = [
    "Check",
    "ClassCounts",
    "Evidence",
    "Rule",
    "Verdict",
    "audit_check",
    "class_counts",
    "evidence_of",
    "flip_rate",
    "gabriel_edges",
    "gilbert_edges",
    "join",
    "random_baseline",
    "random_features",
    "random_of_size",
    "rule_check",
    "rule_of",
    "verdict_on",
]
