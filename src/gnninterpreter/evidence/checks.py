"""The checks themselves: each is one small function from a case to a `Check`.

To add one, write a function, put it into `CHECKS`, and give it a row in `verdict.WORDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.evidence.evidence import NO_REAL_GRAPHS, Check, written
from gnninterpreter.evidence.patterns.causes import Effect
from gnninterpreter.evidence.patterns.core import storable
from gnninterpreter.evidence.rule import Rule
from gnninterpreter.evidence.thresholds import (
    AGREEING_SHARE,
    CERTAIN,
    CLEARLY,
    DISTINCT_SHARE,
    LIFT,
    OUTLYING_PERCENTILE,
    PROBABLE,
    RANDOM_GRAPHS,
    RANDOM_SHARE,
)
from gnninterpreter.graphs import node_rows, random_graphs
from gnninterpreter.isomorphism import same_graph
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import Profile
from gnninterpreter.objective.target import Target

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation

__all__ = ["CHECKS", "Case", "audit_check", "rule_check"]


@dataclass(frozen=True)
class Case:
    """An explanation and what else there is to judge it by.

    Args:
        explanation: What is judged.
        classifier: The model; None where it is not at hand.
        scores: Scores of the samples behind ``explanation.probability``, [n].
        rule: The rule of the data set, where there is one.
        profile: What real graphs of the target look like, where that is known.
        graphs: The data, where it is at hand.
        peers: Other models of the same task.
    """

    explanation: Explanation
    classifier: GraphClassifier | None = None
    scores: Tensor | None = None
    rule: Rule | None = None
    profile: Profile | None = None
    graphs: Sequence[Data] | None = None
    peers: tuple[GraphClassifier, ...] = ()

    @property
    def bar(self) -> float:
        """What counts as certain: less where the model is rarely that sure of real graphs."""
        return CERTAIN if self.profile is None else min(CERTAIN, self.profile.certain)

    @property
    def reached(self) -> set[int]:
        """The restarts whose samples the model is certain of."""
        restarts = enumerate(self.explanation.restarts)
        return {index for index, restart in restarts if restart.mean_probability >= self.bar}


def found(case: Case) -> Check:
    """Is there a graph at all?"""
    edges = case.explanation.num_edges
    sentence = f"the graph has {edges} edges"
    if not edges:
        sentence = "no graph was found: the most probable one has no edges"
    return Check("something found", edges > 0, sentence, edges, 1, grave=True)


def reached(case: Case) -> Check:
    """Does the model give samples what was asked for?"""
    mean = case.explanation.probability.mean
    sentence = f"the model gives samples {written(mean)} on average"
    if passed := bool(mean >= min(PROBABLE, case.bar)):
        return Check("target reached", passed, sentence, mean, PROBABLE, grave=True)
    sentence = (
        f"the model gives samples only {mean:.2f} on average: "
        "do not read this as what the class looks like to it"
    )
    return Check("target reached", passed, sentence, mean, PROBABLE, grave=True)


def certain(case: Case) -> Check:
    """Is it certain of them?"""
    mean = case.explanation.probability.mean
    passed = bool(mean >= case.bar)
    sentence = f"the model is{'' if passed else ' not'} certain of this: samples have "
    sentence += f"{written(mean)} on average"
    if passed and case.bar < CERTAIN:
        sentence += f", as the top tenth of real graphs, which get {case.bar:.3f} or more"
    return Check("certain", passed, sentence, mean, case.bar)


def certain_samples(case: Case) -> Check:
    """Is it certain of nearly every sample, and not only on average?"""
    name = "samples certain"
    if case.scores is None:
        return Check(name, None, "the samples were not scored one by one")
    share = float((case.scores >= case.bar).double().mean())
    sentence = f"the model is certain of {_percent(share)} of the samples"
    return Check(name, share >= PROBABLE, sentence, share, PROBABLE)


def certain_as_real(case: Case) -> Check:
    """Where does its certainty lie among that of real graphs?"""
    name, score = "certainty among real graphs", case.explanation.mode_probability
    percentile = None if case.profile is None else case.profile.score_percentile(score)
    if percentile is None:
        return Check(name, None, "what the model gives to real graphs of the class is not known")
    sentence = f"the model is more certain of the graph than of {percentile:.0f}% of real graphs"
    passed = percentile >= OUTLYING_PERCENTILE or score >= CERTAIN
    return Check(name, passed, sentence, percentile, OUTLYING_PERCENTILE)


def typical(case: Case) -> Check:
    """Could it be one of the real graphs of the class?"""
    percentile = case.explanation.typicality
    if percentile is None:
        few = "there were not enough real graphs to compare it with"
        return Check("typical", None, NO_REAL_GRAPHS if case.profile is None else few)
    passed = percentile >= OUTLYING_PERCENTILE
    sentence = f"{percentile:.0f}% of the real graphs of the class are stranger than the graph"
    if not passed:
        sentence = f"untypical: only {sentence}"
    return Check("typical", passed, sentence, percentile, OUTLYING_PERCENTILE)


def new(case: Case) -> Check:
    """Is it one of the real graphs, or none of them? Either is fine, and said."""
    explanation, graphs = case.explanation, case.graphs
    if graphs is None or not explanation.num_edges:
        return Check("new", None, "there is no data to look the graph up in")
    best, spec = explanation.best.cpu(), explanation.spec
    size = (int(best.num_nodes or 0), int(best.num_edges))
    alike = [g for g in graphs if (int(g.num_nodes or 0), int(g.num_edges)) == size]
    count = 0
    for graph in alike:
        stored = storable(graph, spec, torch.float32)
        count += stored is not None and same_graph(best, stored, spec)
    sentence = f"it is none of the {len(graphs):,} real graphs"
    if count:
        sentence = f"it is a real graph of the data, which holds it {_times(count)}"
    return Check("new", True, sentence, count, len(graphs))


def core_covers(case: Case) -> Check:
    """Do real graphs of the class have the core, and others not?"""
    core = case.explanation.core
    if core is None:
        none = NO_REAL_GRAPHS if case.graphs is None else "there is no core"
        return Check("core covers", None, none)
    if core.coverage is None:
        return Check("core covers", None, "there is no data to look for the core in")
    sentence = f"{core.found_in()}, {_percent(core.coverage)}"
    if core.lift is None:
        return Check("core covers", None, f"{sentence}, and there are no others", core.coverage)
    sentence += f" and {core.lift:.1f} times as often as others"
    return Check("core covers", core.lift >= LIFT, sentence, core.coverage, LIFT)


def necessary(case: Case) -> Check:
    """Does the model lose the class when the core is taken out of real graphs?"""
    effect = None if case.explanation.core is None else case.explanation.core.necessity
    sentence = "without the core real graphs lose {value:.2f} on average, without other nodes {0}"
    return _effect("necessary", effect, sentence)


def sufficient(case: Case) -> Check:
    """Do other graphs become the class when the core is joined to them?"""
    effect = None if case.explanation.core is None else case.explanation.core.sufficiency
    sentence = "with the core joined {value:.0%} of other graphs turn, with another piece {0}"
    return _effect("sufficient", effect, sentence)


def _effect(name: str, effect: Effect | None, sentence: str) -> Check:
    if effect is None:
        return Check(name, None, "there is no core, or no data to try it on")
    control = effect.control
    form = "{:.0%}" if "%" in sentence else "{:.2f}"
    beside = "not tried" if control is None else form.format(control)
    passed = effect.value >= (control or 0.0) + CLEARLY
    return Check(name, passed, sentence.format(beside, value=effect.value), effect.value, control)


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
    sentence = f"{sum(said)} of {len(said)} other models give the graph to the class as well"
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
    return Check("feasible", passed, sentence, explanation.num_nodes, 3)


def likeness(case: Case) -> Check:
    """Is it like real graphs of the class, as the model sees them?"""
    percentile = case.explanation.similarity_percentile
    if percentile is None:
        return Check("likeness", None, "there is no data to compare the graph with")
    typical = case.explanation.typicality
    passed = percentile >= OUTLYING_PERCENTILE
    sentence = f"more like the class than {percentile:.0f}% of its real graphs, in the embedding"
    if not passed and typical is not None and typical >= OUTLYING_PERCENTILE:
        # Real graphs lie out there, too: what is typical by itself is not out of distribution.
        passed, sentence = True, f"{sentence}, and typical by itself"
    elif not passed:
        sentence = (
            f"out of distribution: less like the class than {100 - percentile:.0f}% of its real "
            "graphs"
        )
    return Check("likeness", passed, sentence, percentile, OUTLYING_PERCENTILE)


def restarts_reach(case: Case) -> Check:
    """Do restarts get there at all, or was it luck?"""
    count, all_of_them = len(case.reached), len(case.explanation.restarts)
    passed = count >= AGREEING_SHARE * all_of_them
    only = "" if passed else "only "
    sentence = f"{only}{count} of {all_of_them} restarts reached the class"
    return Check("restarts reach it", passed, sentence, count, all_of_them)


def restarts_agree(case: Case) -> Check:
    """Do the restarts that get there find the same graphs?"""
    name, count = "restarts agree", len(case.reached)
    if count < 2:
        return Check(name, None, "it takes two restarts that reached the class to compare them")
    found = case.explanation.modes(PROBABLE)
    modes = [mode for mode in found if case.reached.intersection(mode.restarts)]
    distinct = len(modes)
    # A class has many typical members; finding several of them is no disagreement.
    doubtful = sum(mode.kind not in ("prototype", "core") for mode in modes)
    graphs = "the same graph" if distinct == 1 else f"{distinct} different graphs"
    sentence = f"the {count} restarts that reached the class found {graphs}"
    if distinct > 1 and doubtful < distinct:
        sentence += f", {distinct - doubtful} of them typical"
    return Check(name, doubtful <= DISTINCT_SHARE * count, sentence, distinct, count)


def random_control(case: Case) -> Check:
    """Would a random graph of the same size have done?"""
    name, explanation, classifier = "random graphs", case.explanation, case.classifier
    if classifier is None:
        return Check(name, None, "the model is not at hand to be asked about random graphs")
    nodes = explanation.num_nodes
    if nodes < 2:
        return Check(name, None, "there is no graph to compare random ones with")
    pairs = nodes * (nodes - 1) // (1 if classifier.spec.directed else 2)
    graphs = random_graphs(
        classifier.spec,
        RANDOM_GRAPHS,
        nodes,
        torch.Generator().manual_seed(explanation.seed),
        density=min(1.0, explanation.num_edges / pairs),
        dtype=classifier.dtype,
    )
    own_look = _look(explanation.best)
    others = [i for i, one in enumerate(graphs.to_data_list()) if _look(one) != own_look]
    if not others:
        return Check(name, None, "every graph of this size and density is this one")
    scores = classifier.score(graphs[torch.tensor(others)])
    given = explanation.target.score(scores).double().nan_to_num(nan=0.0)
    mean, best, own = float(given.mean()), float(given.max()), explanation.probability.mean
    sentence = (
        f"random graphs of this size get {written(mean)} on average, "
        f"the best of {len(others)} {written(best)}"
    )
    passed = mean < RANDOM_SHARE * own
    if not passed:
        sentence += ": the class is what the model says of most graphs, and this one is not special"
    return Check(name, passed, sentence, mean, own)


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
        sentence = f"the model takes it for \u201c{target.name}\u201d, but {sentence}"
    if rule.of_thumb:
        sentence += ", and rules of thumb are not always right"
    return Check(rule.name, passed, sentence, said, target.name, grave=not rule.of_thumb)


def audit(_: Case) -> Check:
    """Has an audit found weaknesses?"""
    return Check("audit", None, "no audit was made")


def audit_check(findings: Sequence[tuple[str, str]]) -> Check:
    """What an audit found about a class.

    Args:
        findings: Severity (high, medium or low) and title of each, the gravest first.
    """
    if not findings:
        return Check("audit", True, "the audit found nothing", "none", "medium")
    worst, title = findings[0]
    more = "" if len(findings) == 1 else f" and {len(findings) - 1} more"
    sentence = f"the audit found a weakness of {worst} severity: {title}{more}"
    return Check("audit", worst == "low", sentence, worst, "medium", grave=worst == "high")


CHECKS: tuple[Callable[[Case], Check], ...] = (
    found,
    reached,
    certain,
    certain_samples,
    certain_as_real,
    feasible,
    likeness,
    typical,
    new,
    core_covers,
    necessary,
    sufficient,
    peers_agree,
    restarts_reach,
    restarts_agree,
    random_control,
    rule,
    audit,
)


def _look(graph: Data) -> list[tuple[float, ...]]:
    """Degree and features of each node, sorted: the same for graphs that are the same."""
    degrees = torch.bincount(graph.edge_index[0], minlength=int(graph.num_nodes or 0))
    x = node_rows(graph)
    rows = torch.cat([degrees.unsqueeze(1), x.unsqueeze(1) if x.dim() == 1 else x], dim=1)
    return sorted(tuple(row) for row in rows.tolist())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _percent(share: float) -> str:
    return "all" if share == 1 else f"{min(100 * share, 99.9):.3g}%"
