"""Gathering the evidence: every check asked about one explanation, once, where it is made."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.evidence.boundaries import boundary_checks
from gnninterpreter.evidence.checks import CHECKS, familiar, likeness
from gnninterpreter.evidence.controls import model_is_right
from gnninterpreter.evidence.evidence import Evidence
from gnninterpreter.evidence.patterns.answers import Answers
from gnninterpreter.evidence.reaching import Case, Rule, among_real
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import Profile

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation

# Asked of classes, labels and values, not of a boundary between classes.
ELSEWHERE = (among_real, familiar, likeness, model_is_right)


def evidence_of(
    explanation: Explanation,
    classifier: GraphClassifier | None = None,
    *,
    scores: Tensor | None = None,
    assigned: Tensor | None = None,
    rule: Rule | None = None,
    profile: Profile | None = None,
    graphs: Sequence[Data] | None = None,
    peers: Sequence[GraphClassifier] = (),
    answers: Answers | None = None,
) -> Evidence:
    """Make every check that can be made; the others are there as not checked.

    Args:
        explanation: What to judge.
        classifier: The model, for the control with random graphs.
        scores: Scores of the samples behind ``explanation.probability``, [n].
        assigned: Whether the model gives each of them what was asked for, [n].
        rule: The rule of the data set; see `rule_of`.
        profile: What real graphs of the target look like.
        graphs: The data, to tell whether the graph is one of them.
        peers: Other models of the same task.
        answers: What real graphs say about the target.
    """
    known = (rule, profile, graphs, tuple(peers), answers or Answers())
    case = Case(explanation, classifier, scores, assigned, *known)
    with nullcontext() if classifier is None else classifier.frozen():
        if explanation.target.kind != "boundary":
            return Evidence(tuple(check(case) for check in CHECKS))
        # A boundary lies away from what is usual for either class: its own measures stand instead.
        made = [check(case) for check in CHECKS if check not in ELSEWHERE]
        return Evidence((*made, *boundary_checks(case)))
