"""The checks themselves, each one small function from a case to a `Check`, and all of them asked.

To add one, write a function, put it into `CHECKS`, and give it a row in `verdict.WORDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.evidence.accounts import counts, not_by_heart, one_kind
from gnninterpreter.evidence.boundaries import boundary_checks
from gnninterpreter.evidence.controls import random_control
from gnninterpreter.evidence.evidence import HAS_NO_CORE, NO_REAL_GRAPHS, Check, Evidence
from gnninterpreter.evidence.familiarity import familiarity
from gnninterpreter.evidence.labels import model_is_right
from gnninterpreter.evidence.novelty import new
from gnninterpreter.evidence.patterns.answers import Answers
from gnninterpreter.evidence.patterns.saying import kind_words, link_words
from gnninterpreter.evidence.patterns.typed import typed_graphs
from gnninterpreter.evidence.reaching import (
    Case,
    Rule,
    among_real,
    certain,
    certain_samples,
    found,
    percent,
    reached,
)
from gnninterpreter.evidence.thresholds import (
    AGREEING_SHARE,
    CLEARLY,
    DISTINCT_SHARE,
    LIFT,
    OUTLYING_PERCENTILE,
    PROBABLE,
    SHORTCUT_PERCENTILE,
)
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.profile import Profile
from gnninterpreter.objective.target import Target

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation

__all__ = ["CHECKS", "Case", "audit_check", "familiar", "likeness", "rule_check"]

NOT_TRIED = "there is no core, or no data to try it on"


def typical(case: Case) -> Check:
    """Could it be one of the real graphs of the class?"""
    percentile = case.explanation.typicality
    if percentile is None:
        own = [bool(graph.edge_index.size(1)) for graph, mine in case.asked if mine]
        if sum(own) < AGREEING_SHARE * len(own):
            said = f"untypical: {percent(1 - sum(own) / len(own))} of the real graphs "
            return Check("typical", False, f"{said}{case.target.members} have no edge, and it has")
        few = "there were not enough real graphs to compare it with"
        return Check("typical", None, NO_REAL_GRAPHS if case.profile is None else few)
    members = case.target.members
    sentence = f"{percentile:.0f}% of the real graphs {members} are stranger than the graph"
    odd = _never_seen(case)
    passed = percentile >= OUTLYING_PERCENTILE and not odd
    if not passed:
        sentence = f"untypical: {odd or _hardly_seen(case) or f'only {sentence}'}"
    return Check("typical", passed, sentence, percentile, OUTLYING_PERCENTILE)


def _never_seen(case: Case) -> str:
    """What to say of a kind of edge that no real graph holds; empty without one."""
    links, best, spec = case.answers.links, case.explanation.best, case.explanation.spec
    ends = None if links is None else links.unseen(best, spec)
    if links is None or ends is None:
        return ""
    first, second = (kind_words(best, end, spec) for end in ends)
    said = f"edge{link_words(best, ends, spec)} between a node{first} and one{second}"
    return f"none of {links.graphs:,} real graphs holds an {said}"


def _hardly_seen(case: Case) -> str:
    """What to say of kinds and parts that hardly any real graph holds; empty without any."""
    known = None if case.profile is None else case.profile.typicality
    if known is None or not case.explanation.num_edges:
        return ""
    graph = dense_graphs([case.explanation.best.cpu()], case.explanation.spec)
    bank, members = known.to("cpu").bank, case.target.members
    words = [
        f"only {held:,} of {every:,} real graphs {members} hold {kind}"
        for kind, (held, every) in bank.rare_kinds(graph).items()
    ]
    share = bank.as_rare(graph)
    if not words and share is not None and share < OUTLYING_PERCENTILE:
        words = [f"only {share:.0f}% of the real graphs {members} are made of parts as rare"]
    return ", ".join(words)


def familiar(case: Case) -> Check:
    """Does it look as real graphs of the class do inside the model, layer by layer?"""
    known = None if case.profile is None else case.profile.typicality
    if case.classifier is None or known is None or not case.explanation.num_edges:
        return Check("familiar", None, "the model or real graphs to compare with are not at hand")
    real = known.exemplars.graphs.to_data_list()
    found = familiarity(case.classifier, case.explanation.best, real)
    if found is None:
        return Check("familiar", None, "there were too few real graphs, or no layers, to compare")
    share, members = found.share, case.target.members
    sentence = f"inside the model {share:.0f}% of real graphs {members} look stranger"
    if not found.passed:
        first = 1 + min(range(len(found.layers)), key=found.layers.__getitem__)
        sentence = f"strange inside the model, most of all to layer {first}: only {share:.0f}% of "
        sentence += f"real graphs {members} look stranger there"
    return Check("familiar", found.passed, sentence, share, SHORTCUT_PERCENTILE)


def core_covers(case: Case) -> Check:
    """Do real graphs of the class have the core, and others not? Then the graph should, too."""
    core, best = case.explanation.core, case.explanation.best
    if core is None:
        none = NO_REAL_GRAPHS if case.graphs is None else HAS_NO_CORE
        return Check("core covers", None, none)
    if core.coverage is None:
        return Check("core covers", None, "there is no data to look for the core in")
    sentence = f"{core.found_in(f'graphs {case.target.members}')}, {percent(core.coverage)}"
    if core.lift is None:
        return Check("core covers", None, f"{sentence}, and there are no others", core.coverage)
    sentence += f" and {core.lift:.1f} times as often as others"
    if core.makes and core.held_by(best) is False:
        sentence = f"the graph does not hold the core: {sentence}; here the model is certain for "
        return Check("holds the core", False, f"{sentence}another reason", core.coverage, LIFT)
    return Check("core covers", core.lift >= LIFT, sentence, core.coverage, LIFT)


def lacks_other_cores(case: Case) -> Check | None:
    """Of what is left without the cores of other classes: does the graph hold none of them?"""
    if not case.answers.lacked:
        return None
    holds = any(other.held_by(case.explanation.best) for other in case.answers.lacked)
    sentence = "the graph holds no core of the classes without which it is what is left"
    if holds:
        sentence = (
            f"the graph holds the core of another class, and {case.target.noun} is what is left "
            "where that is missing: here the model is certain for another reason"
        )
    return Check("lacks other cores", not holds, sentence)


def necessary(case: Case) -> Check:
    """Does the model turn away when the core is taken out of real graphs?"""
    core, target = case.explanation.core, case.target
    if core is None or core.necessity is None:
        return Check("necessary", None, NOT_TRIED)
    value, control = core.necessity.value, core.necessity.control
    lost, beside = target.changed(value), "not tried"
    if target.probable:
        lost = f"real graphs lose {value:.2f}"
    if control is not None:
        beside = f"{control:.2f}" if target.probable else target.changed(control)
    sentence = f"without the core {lost} on average, without other nodes {beside}"
    clearly = core.necessity.clearly(CLEARLY * target.span)
    return Check("necessary", clearly, sentence, value, control)


def sufficient(case: Case) -> Check:
    """Do other graphs turn when the core is joined to them?"""
    core = case.explanation.core
    if core is None or core.sufficiency is None:
        return Check("sufficient", None, NOT_TRIED)
    value, control = core.sufficiency.value, core.sufficiency.control
    beside = "not tried" if control is None else f"{control:.0%}"
    sentence = f"with the core joined {value:.0%} of other graphs turn, with another piece {beside}"
    return Check("sufficient", core.sufficiency.clearly(CLEARLY), sentence, value, control)


def peers_agree(case: Case) -> Check:
    """Do other models of the same task believe in it too?"""
    name, explanation = "peers agree", case.explanation
    if not case.peers:
        return Check(name, None, "no other models were given to be asked")
    if not explanation.num_edges:
        return Check(name, None, "there is no graph to ask other models about")
    said = [
        bool(explanation.target.assigned(peer.score_data([explanation.best]))[0])
        for peer in case.peers
    ]
    share = sum(said) / len(said)
    verb = "give the graph to" if case.target.probable else "see in the graph"
    sentence = f"{sum(said)} of {len(said)} other models {verb} {case.target.noun} as well"
    return Check(name, share >= AGREEING_SHARE, sentence, share, AGREEING_SHARE)


def feasible(case: Case) -> Check:
    """Is it one graph within its limits, of three nodes or more?"""
    explanation = case.explanation
    if not explanation.num_edges:
        return Check("feasible", None, "there is no graph")
    passed = bool(explanation.restarts[explanation.choice].feasible)
    sentence = "the graph is in one piece, within the size limit"
    if not passed:
        sentence = "the graph is in pieces, too small or over the size limit"
        share = _in_pieces(case)
        if share is not None and share >= AGREEING_SHARE:
            passed = True
            sentence = f"the graph is in pieces, as are {percent(share)} of the real graphs "
            sentence += case.target.members
    return Check("feasible", passed, sentence, explanation.num_nodes, 3)


def _in_pieces(case: Case) -> float | None:
    """Share of the real graphs of the class in pieces, where that is all that is odd about it."""
    explanation = case.explanation
    fits = 3 <= explanation.num_nodes <= explanation.max_nodes
    mine = [graph for graph, one in case.asked if one]
    if not fits or explanation.num_edges > explanation.max_edges or not mine:
        return None
    typed = typed_graphs([explanation.best.cpu(), *mine], explanation.spec)
    best, *real = (len(one.pieces()) for one in typed)
    return None if best < 2 else sum(one > 1 for one in real) / len(real)


def likeness(case: Case) -> Check:
    """Is it like real graphs of the class, as the model sees them?"""
    percentile = case.explanation.similarity_percentile
    if percentile is None:
        return Check("likeness", None, "there is no data to compare the graph with")
    typical, members = case.explanation.typicality, case.target.members
    passed = percentile >= OUTLYING_PERCENTILE
    sentence = f"more like graphs {members} than {percentile:.0f}% of them, in the embedding"
    if not passed and typical is not None and typical >= OUTLYING_PERCENTILE:
        # Real graphs lie out there, too: what is typical by itself is not out of distribution.
        passed, sentence = True, f"{sentence}, and typical by itself"
    elif not passed:
        sentence = (
            f"out of distribution: less like graphs {members} than {100 - percentile:.0f}% of them"
        )
    return Check("likeness", passed, sentence, percentile, OUTLYING_PERCENTILE)


def restarts_reach(case: Case) -> Check:
    """Do restarts get there at all, or was it luck?"""
    count, all_of_them = len(case.reached), len(case.explanation.restarts)
    passed = count >= AGREEING_SHARE * all_of_them
    only = "" if passed else "only "
    sentence = f"{only}{count} of {all_of_them} restarts reached {case.target.noun}"
    return Check("restarts reach it", passed, sentence, count, all_of_them)


def restarts_agree(case: Case) -> Check:
    """Do the restarts that get there find the same graphs?"""
    name, count = "restarts agree", len(case.reached)
    if count < 2:
        few = f"it takes two restarts that reached {case.target.noun} to compare them"
        return Check(name, None, few)
    found = case.explanation.modes(PROBABLE)
    modes = [mode for mode in found if case.reached.intersection(mode.restarts)]
    distinct = len(modes)
    # A class has many typical members; finding several of them is no disagreement.
    doubtful = sum(mode.kind not in ("prototype", "core") for mode in modes)
    graphs = "the same graph" if distinct == 1 else f"{distinct} different graphs"
    sentence = f"the {count} restarts that reached {case.target.noun} found {graphs}"
    if distinct > 1 and doubtful < distinct:
        sentence += f", {distinct - doubtful} of them typical"
    return Check(name, doubtful <= DISTINCT_SHARE * count, sentence, distinct, count)


def rule(case: Case) -> Check:
    """Does the rule of the data set say the same of it?"""
    if case.rule is None:
        return Check("rule of the data set", None, "no rule is known that gives graphs their class")
    if not case.explanation.num_edges:
        return Check(case.rule.name, None, "there is no graph to ask it about")
    names = () if case.classifier is None else case.classifier.spec.class_names
    return rule_check(case.rule, case.explanation.best, case.explanation.target, names)


def rule_check(rule: Rule, graph: Data, target: Target, names: Sequence[str]) -> Check:
    """Ask a rule about a graph."""
    try:
        label = int(rule.oracle(graph))
        passed = target.true_of(torch.tensor([label]))
    except Exception as error:  # whatever somebody's rule does
        return Check(rule.name, None, f"the rule failed on this graph ({error})")
    said = names[label] if 0 <= label < len(names) else f"class {label}"
    sentence = f"by the {rule.name} the graph is \u201c{said}\u201d"
    if passed is False:
        sentence = f"it was to be \u201c{target.name}\u201d, but {sentence}"
    if rule.of_thumb:
        sentence += ", and rules of thumb are not always right"
    return Check(rule.name, passed, sentence, said, target.name, grave=not rule.of_thumb)


def audit(_: Case) -> Check:
    """Has an audit found weaknesses?"""
    return Check("audit", None, "no audit was made")


def audit_check(findings: Sequence[tuple[str, str]]) -> Check:
    """What an audit found about a class: severity and title of each finding, the gravest first."""
    if not findings:
        return Check("audit", True, "the audit found nothing", "none", "medium")
    worst, title = findings[0]
    more = "" if len(findings) == 1 else f" and {len(findings) - 1} more"
    sentence = f"the audit found a weakness of {worst} severity: {title}{more}"
    return Check("audit", worst == "low", sentence, worst, "medium", grave=worst == "high")


# A check that is about nothing here gives None.
CHECKS: tuple[Callable[[Case], Check | None], ...] = (
    found,
    reached,
    certain,
    certain_samples,
    among_real,
    feasible,
    likeness,
    typical,
    familiar,
    new,
    core_covers,
    lacks_other_cores,
    necessary,
    sufficient,
    counts,
    one_kind,
    not_by_heart,
    peers_agree,
    restarts_reach,
    restarts_agree,
    random_control,
    model_is_right,
    rule,
    audit,
)


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
    kept: Sequence[Sequence[Data]] = (),
    told: dict[str, Any] | None = None,
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
        kept: Real graphs of each row of the statistics, which stand in for data that is missing.
        told: What was asked about real graphs for other targets of the same call; more is added.
    """
    told = {} if told is None else told
    known = (rule, profile, graphs, tuple(peers), answers or Answers(), kept, told)
    case = Case(explanation, classifier, scores, assigned, *known)
    with nullcontext() if classifier is None else classifier.frozen():
        if explanation.target.kind != "boundary":
            made = [check(case) for check in CHECKS]
        else:
            # A boundary lies away from what is usual for either class: its own measures stand
            # instead.
            made = [check(case) for check in CHECKS if check not in ELSEWHERE]
            made += boundary_checks(case)
        return Evidence(tuple(check for check in made if check is not None))
