"""Checks of what the graphs of a class have in common: one kind, a count, or nothing at all.

A class that nothing simple tells from the others may be one that the model has learned by heart.
"""

from __future__ import annotations

import torch

from gnninterpreter.evidence.evidence import Check
from gnninterpreter.evidence.patterns.answers import LEFT_OVER
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.counts import kind_words
from gnninterpreter.evidence.patterns.typed import node_kinds
from gnninterpreter.evidence.reaching import Case, percent
from gnninterpreter.evidence.thresholds import BY_HEART, CERTAIN, CLEARLY, COVERING
from gnninterpreter.typicality.typicality import FEWEST_GRAPHS


def one_kind(case: Case) -> Check:
    """Is there more to the class than one kind of node, which may be a mark that gives it away?"""
    name = "more than one kind"
    mine = torch.tensor([one for _, one in case.asked])
    if len(mine) < FEWEST_GRAPHS or not mine.any() or mine.all():
        return Check(name, None, "there is too little data to compare kinds of nodes in")
    graphs, spec = [graph for graph, _ in case.asked], case.explanation.spec
    held = node_kinds(graphs, spec)
    for kind in sorted(set().union(*held)):
        there = torch.tensor([kind in own for own in held])
        own, others = (float(there[part].double().mean()) for part in (mine, ~mine))
        # Its absence gives a class away as its presence does.
        if max(own, others) >= COVERING and min(own, others) <= 1 - CERTAIN:
            first = int(there.nonzero()[0])
            said = kind_words(graphs[first], held[first].index(kind), spec)
            sentence = (
                f"one kind of node gives it away: {percent(own)} of the graphs "
                f"{case.target.members} hold a node{said}, and {percent(others)} of the others; "
                "make sure that this is what it is about, and no mark"
            )
            return Check(name, False, sentence, own, others)
    return Check(name, True, "no kind of node alone tells which graphs these are")


def counts(case: Case) -> Check:
    """Do counts of nodes, kinds, neighbours and rings tell what no piece does?"""
    account = case.answers.account
    if account is None:
        return Check("counts", None, "there are too few real graphs to count in")
    core = case.explanation.core
    known = 0.5 if core is None else _accuracy(core)
    wanted = max(COVERING, min(known + CLEARLY / 2, CERTAIN))
    passed = account.accuracy >= wanted and account.accuracy > known
    sentence = "no condition on counts tells more than the core"
    if core is None:
        sentence = "no condition on counts tells which graphs these are"
    if passed:
        sentence = (
            f"{percent(account.own)} of the graphs {case.target.members} have {account.words}, and "
            f"{percent(account.others)} of the others"
        )
    return Check("counts", passed, sentence, account.accuracy, known)


def not_by_heart(case: Case) -> Check:
    """Is there anything simple behind what the model says, or has it learned graphs by heart?"""
    name, account = "not by heart", case.answers.account
    if account is None:
        return Check(name, None, "there are too few real graphs to look for what they share")
    told = max(account.best, case.answers.told)
    passed = case.answers.left_over or told >= BY_HEART
    sentence = f"cores or counts tell real graphs apart as the model does, in {told:.0%}"
    if case.answers.left_over:
        sentence = LEFT_OVER
    elif not passed:
        sentence = (
            f"nothing simple tells the real graphs {case.target.members} from the others: cores "
            f"and counts do so in {told:.0%} of cases, guessing in 50%; the model may know "
            "them by heart, so see what it says of graphs that it was not trained on"
        )
    return Check(name, passed, sentence, told, BY_HEART)


def _accuracy(core: Core) -> float:
    """How often holding the core says what the model says, both sides counting the same."""
    if core.coverage is None or core.others is None or not core.rest:
        return 0.5
    return (core.coverage + 1 - core.others / core.rest) / 2
