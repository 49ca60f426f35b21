"""Checks of what the model says of an explanation: is it what was asked for, and how firmly?

`Case` is what all checks are about, and `Rule` what says the class of any graph, where somebody
knows how. Classes and labels have a probability, of which the model is
certain or not; a value or a boundary is met or missed, and the checks say so in its own figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.datasets import NAMES, dataset_class
from gnninterpreter.evidence.evidence import Check, written
from gnninterpreter.evidence.patterns.answers import Answers
from gnninterpreter.evidence.patterns.real import chosen, in_order
from gnninterpreter.evidence.thresholds import CERTAIN, OUTLYING_PERCENTILE, PROBABLE
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.models.profile import Profile
from gnninterpreter.objective import Target, ValueTarget

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation

T = TypeVar("T")
# Real graphs that the model is asked about; where few of them are of a kind, so many, and so many
# nodes of all together.
ASKED = 500
MANY, MOST_NODES = 5_000, 100_000


@dataclass(frozen=True)
class Rule:
    """Says the class of a graph by its index; one of thumb is often right and not always."""

    oracle: Callable[[Data], int]
    of_thumb: bool = False

    @property
    def name(self) -> str:
        """What to call it; a rule of thumb is never more than that."""
        return "rule of thumb" if self.of_thumb else "rule of the data set"


def rule_of(model: Any, dataset: Any = None) -> Rule | None:
    """Return the rule that gives a graph its class; None where there is none.

    A data set with an ``oracle`` has the rule itself, and its ``rule_of_thumb`` says whether that
    is always right; a bundled model knows the data set it was trained on.
    """
    source = dataset
    if getattr(source, "oracle", None) is None and isinstance(model, Bundle):
        source = dataset_class(model.dataset_name) if model.dataset_name in NAMES else None
    oracle = getattr(source, "oracle", None)
    return None if oracle is None else Rule(oracle, bool(getattr(source, "rule_of_thumb", False)))


@dataclass(frozen=True)
class Case:
    """An explanation and what else there is to judge it by, as `evidence_of` is told it."""

    explanation: Explanation
    classifier: GraphClassifier | None = None
    scores: Tensor | None = None
    assigned: Tensor | None = None
    rule: Rule | None = None
    profile: Profile | None = None
    graphs: Sequence[Data] | None = None
    peers: tuple[GraphClassifier, ...] = ()
    answers: Answers = field(default_factory=Answers)
    # What statistics keep of the real graphs of each row, where the data is not at hand.
    kept: Sequence[Sequence[Data]] = ()
    # What was asked about real graphs that is the same for every target of a call.
    told: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, ask: Callable[[], T]) -> T:
        """What does not depend on the target: asked for the first of them alone."""
        if name not in self.told:
            self.told[name] = ask()
        found: T = self.told[name]
        return found

    @property
    def target(self) -> Target:
        """What was asked of the model."""
        return self.explanation.target

    @property
    def bar(self) -> float:
        """What counts as certain: less where the model is rarely that sure of real graphs."""
        return CERTAIN if self.profile is None else min(CERTAIN, self.profile.certain)

    @property
    def reached(self) -> set[int]:
        """The restarts whose samples the model is certain of."""
        restarts = enumerate(self.explanation.restarts)
        return {index for index, restart in restarts if restart.mean_probability >= self.bar}

    @property
    def drawn(self) -> Sequence[Data]:
        """Some real graphs, as often of each class as there are."""
        if self.classifier is None or not self.graphs:
            return []
        real, seed = self.graphs, abs(self.explanation.seed)
        return self.once("drawn", lambda: chosen(real, ASKED, seed, evenly=False))

    @property
    def said(self) -> Scores:
        """What the model says of them; there have to be some."""
        known = self.classifier
        assert known is not None
        return self.once("said", lambda: known.score_data(self.drawn))

    @cached_property
    def asked(self) -> list[tuple[Data, bool]]:
        """The same graphs, and whether each is given what was asked for."""
        if not self.drawn:
            return []
        return list(zip(self.drawn, self.target.assigned(self.said).tolist(), strict=True))

    @cached_property
    def many(self) -> list[tuple[Data, bool]]:
        """The same of more graphs, for a class that few of those have."""
        if self.classifier is None or not self.graphs or len(self.graphs) <= len(self.drawn):
            return self.asked
        graphs, said = self.once("many", partial(self._of_many, self.classifier, self.graphs))
        return list(zip(graphs, self.target.assigned(said).tolist(), strict=True))

    def _of_many(
        self, classifier: GraphClassifier, real: Sequence[Data]
    ) -> tuple[Sequence[Data], Scores]:
        usual = float(in_order(real).nodes.mean())
        count = max(ASKED, min(MANY, int(MOST_NODES / max(usual, 1.0))))
        graphs = chosen(real, count, abs(self.explanation.seed), evenly=False)
        return graphs, classifier.score_data(graphs)

    @property
    def given(self) -> str:
        """What the model gives samples, in figures that never round up to certainty."""
        mean = self.explanation.probability.mean
        return written(mean) if self.target.probable else self.explanation.given


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
    sentence = f"the model gives samples {case.given} on average"
    # A model that is never sure may still say something else of every graph.
    other = case.target.probable and case.assigned is not None and not _mostly(case.assigned)
    passed = bool(mean >= min(PROBABLE, case.bar)) and not other
    if not passed:
        given = f"only {mean:.2f}" if case.target.probable else case.given
        sentence = (
            f"the model gives samples {given} on average: do not read this as what "
            f"{case.target.noun} looks like to it"
        )
    return Check("target reached", passed, sentence, mean, PROBABLE, grave=True)


def _mostly(hits: Tensor) -> bool:
    return float(hits.double().mean()) >= 0.5


def certain(case: Case) -> Check:
    """Is it certain of them, or do they have what was asked for?"""
    mean = case.explanation.probability.mean
    passed = bool(mean >= case.bar)
    if not case.target.probable:
        sentence = f"samples have {case.given} on average, and {case.target.asked} was asked for"
        return Check("as asked for", passed, sentence, mean, case.bar)
    sentence = f"the model is{'' if passed else ' not'} certain of this: samples have "
    sentence += f"{case.given} on average"
    if passed and case.bar < CERTAIN:
        sentence = (
            f"the model is as certain as of the top tenth of real graphs, which get {case.bar:.3f} "
            f"or more: samples have {case.given} on average"
        )
    return Check("certain", passed, sentence, mean, case.bar)


def certain_samples(case: Case) -> Check:
    """The same of nearly every sample, and not only on average."""
    name = "samples certain" if case.target.probable else "samples as asked for"
    hits = None if case.scores is None else case.scores >= case.bar
    if not case.target.probable:
        hits = case.assigned
    if hits is None:
        return Check(name, None, "the samples were not scored one by one")
    share = float(hits.double().mean())
    sentence = f"the model is certain of {percent(share)} of the samples"
    if not case.target.probable:
        sentence = f"{percent(share)} of the samples have {case.target.asked}"
    return Check(name, share >= PROBABLE, sentence, share, PROBABLE)


def among_real(case: Case) -> Check:
    """Where does what the model says of the graph lie among what it says of real ones?"""
    target, score = case.target, case.explanation.mode_probability
    if isinstance(target, ValueTarget):
        value = case.explanation.class_probabilities[target.index]
        name, place = "value among real graphs", target.place(value)
        if not place:
            return Check(name, None, "what the model gives to real graphs is not known")
        sentence = f"{case.explanation.said}, {place}"
        return Check(name, score >= CERTAIN, sentence, target.percentile(value), target.asked)
    name = "certainty among real graphs"
    percentile = None if case.profile is None else case.profile.score_percentile(score)
    if percentile is None:
        return Check(
            name, None, f"what the model gives to real graphs {target.members} is not known"
        )
    sentence = f"the model is more certain of the graph than of {percentile:.0f}% of real graphs"
    passed = percentile >= OUTLYING_PERCENTILE or score >= CERTAIN
    return Check(name, passed, sentence, percentile, OUTLYING_PERCENTILE)


def percent(share: float) -> str:
    """A share in percent that never rounds to all; "all" and "none" where it is so."""
    return {0.0: "none", 1.0: "all"}.get(share, f"{min(100 * share, 99.9):.3g}%")
