"""Two runs side by side: two models of one task, or one before and after it was trained again."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Data

from gnninterpreter.arguments import page_of, several
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence.patterns import RealGraphs, fidelity_of
from gnninterpreter.explanation.explanation import Explanation
from gnninterpreter.explanation.explanation_set import ExplanationSet
from gnninterpreter.files import finite
from gnninterpreter.isomorphism import same_graph
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import graph_list
from gnninterpreter.views import view

SAMPLES = 100


@dataclass(frozen=True)
class ClassComparison:
    """One class in both runs; None stands for what is missing or not at hand.

    ``crossed`` is what the other model gives the prototype of each, ``agreed`` the share of the
    graphs drawn from each that the other model gives to the class as well.
    """

    name: str
    sides: tuple[Explanation | None, Explanation | None]
    same_prototype: bool | None = None
    same_core: bool | None = None
    crossed: tuple[float | None, float | None] = (None, None)
    agreed: tuple[float | None, float | None] = (None, None)

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        return {
            "class": self.name,
            "same_prototype": self.same_prototype,
            "same_core": self.same_core,
            "sides": [
                None if one is None else {**one.figures(), "crossed": crossed, "agreed": agreed}
                for one, crossed, agreed in zip(self.sides, self.crossed, self.agreed, strict=True)
            ],
        }


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side, the classes in the order of the first.

    Of ``real`` graphs both models give a share the same class; fidelity is how often patterns of
    real graphs say what each model says.
    """

    names: tuple[str, str]
    classes: tuple[ClassComparison, ...]
    same_answers: float | None = None
    real: int = 0
    fidelity: tuple[float | None, float | None] = (None, None)

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        values: dict[str, Any] = finite(
            {**vars(self), "classes": [one.to_json() for one in self.classes]}
        )
        return values

    def report(self, path: str | Path) -> Path:
        """Write the comparison as one self-contained HTML file.

        Raises:
            OutputError: If the place cannot be written.
        """
        return Path(view("comparison")(self, page_of("path", path)))


def compare(
    first: ExplanationSet,
    second: ExplanationSet,
    *,
    models: Sequence[nn.Module | Bundle | None] = (None, None),
    dataset: Any = None,
    forward: Callable[..., Any] | None = None,
    fidelity: bool = False,
    names: Sequence[str] | None = None,
) -> Comparison:
    """Put two runs side by side, of models that take the same graphs.

    Where a run was loaded its model is one of ``models``; without it nothing is known about its
    answers on the other's graphs. Both are asked about the graphs of ``dataset``, or of the runs.
    With ``fidelity`` it is measured how often patterns of real graphs say what each model says:
    found in one half of the graphs, measured on the other. The two are called by ``names``, or
    their models' names.

    Raises:
        SpecError: If the two do not take the same graphs, have no class in common, or fidelity
            cannot be measured, since a model or real graphs are missing.

    Example:
        >>> before, after = gi.explain(old, data), gi.explain(new, data)  # doctest: +SKIP
        >>> gi.compare(before, after).report("compared.html")  # doctest: +SKIP
    """
    runs = (first, second)
    for run in runs:
        if not isinstance(run, ExplanationSet):
            raise SpecError(f"compare takes two results of explain or load (got {run!r:.60})")
    both = several("models", models, "two models, or None for the one of a run")
    titles = several("names", names, "two names")
    if len(both) != 2 or len(titles) not in (0, 2):
        raise SpecError(
            f"models and names must each be two, one for each run (got {len(both)} and "
            f"{len(titles)})"
        )
    if (first.spec.nodes, first.spec.edges) != (second.spec.nodes, second.spec.edges):
        raise SpecError("the two runs are of models that take different graphs; compare others")
    if not set(first) & set(second):
        raise SpecError(
            f"the two runs have no class in common (got {', '.join(first)} and {', '.join(second)})"
        )
    asked = [run.classifier for run in runs]
    for place, model in enumerate(both):
        if model is not None:
            asked[place] = GraphClassifier.connect(model, runs[place].spec, forward=forward)
    graphs = graph_list(dataset) if dataset is not None else first.graphs or second.graphs
    same: float | None = None
    measured: list[float | None] = [None, None]
    if fidelity and (graphs is None or None in asked):
        raise SpecError(
            "fidelity is measured with both models on real graphs, and of stored runs they are not "
            "known; give models and dataset (--model for each run, and --data)"
        )
    if graphs is not None:
        same = _same_answers(asked, graphs)
        if fidelity:
            measured = [_fidelity(one, graphs) for one in asked]
    called = [str(name) for name in titles or (first.model_name, second.model_name)]
    if called[0] == called[1]:
        called = [f"{called[0]}, {which}" for which in ("first", "second")]
    return Comparison(
        (called[0], called[1]),
        tuple(_class(name, runs, asked) for name in dict.fromkeys((*first, *second))),
        same,
        0 if graphs is None or same is None else len(graphs),
        (measured[0], measured[1]),
    )


def _class(
    name: str,
    runs: tuple[ExplanationSet, ExplanationSet],
    asked: Sequence[GraphClassifier | None],
) -> ClassComparison:
    one, other = (run.explanations.get(name) for run in runs)
    if one is None or other is None:
        return ClassComparison(name, (one, other))
    crossed, agreed = zip(_answers(asked[1], one), _answers(asked[0], other), strict=True)
    same_core = None
    if one.core is not None and other.core is not None:
        same_core = one.core.typed.same(other.core.typed)
    same = same_graph(one.best, other.best, one.spec)
    return ClassComparison(name, (one, other), same, same_core, crossed, agreed)


def _answers(
    classifier: GraphClassifier | None, mine: Explanation
) -> tuple[float | None, float | None]:
    """What a model gives the prototype, and the share of samples that it gives to the class."""
    named = mine.target.kind != "value" and mine.name in mine.spec.class_names
    if classifier is None or not named:  # a value or a boundary is no class of the other model
        return None, None
    place = classifier.spec.class_index(mine.name)
    drawn = [graph for graph in mine.sample(SAMPLES) if graph.num_edges]
    if not mine.best.num_edges or not drawn:
        return None, None
    scores = classifier.score_data([mine.best, *drawn]).probabilities
    rest = scores[1:]
    top = rest.argmax(dim=1) == place if classifier.task.exclusive else rest[:, place] >= 0.5
    return float(scores[0, place]), float(top.double().mean())


def _same_answers(asked: Sequence[GraphClassifier | None], graphs: Sequence[Data]) -> float | None:
    if asked[0] is None or asked[1] is None or not all(a.task.exclusive for a in asked if a):
        return None
    answers = [  # by name: two models may have their classes in another order
        [a.spec.class_names[i] for i in a.score_data(list(graphs)).probabilities.argmax(1).tolist()]
        for a in asked
        if a
    ]
    return sum(map(operator.eq, *answers)) / len(graphs) if graphs else None


def _fidelity(classifier: GraphClassifier | None, graphs: Sequence[Data]) -> float | None:
    if classifier is None or not classifier.task.exclusive:
        return None
    # Data sets often have their classes in turn, so that every other graph is of one class.
    order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0)).tolist()
    halves = [RealGraphs(classifier, [graphs[i] for i in order[start::2]]) for start in (0, 1)]
    return fidelity_of(halves[0], halves[1]).value
