"""What the baselines share: how they are called, and what becomes of the graphs they draw."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from gnninterpreter.arguments import one_of, whole_number
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence.random_graphs import KINDS, random_baseline
from gnninterpreter.evidence.thresholds import PROBABLE
from gnninterpreter.explanation import (
    Curve,
    DrawnSampler,
    Explanation,
    ExplanationSet,
    Probability,
    Restart,
)
from gnninterpreter.explanation.assembly import SAMPLES, similarities
from gnninterpreter.explanation.resuming import versions
from gnninterpreter.graphs import DenseGraphs, dense_graphs
from gnninterpreter.isomorphism import GraphNumbers
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.asking import targets_of
from gnninterpreter.objective.target import Target
from gnninterpreter.spec import GraphSpec, graph_list

KEPT = 8


@dataclass(frozen=True)
class Drawing:
    """How a method draws graphs of one target by number and seed, and what it took to get ready."""

    draw: Callable[[int, int], DenseGraphs]
    iterations: int = 0
    history: tuple[Curve, ...] = ()


class Baseline(ABC):
    """An `gnninterpreter.explanation.Explainer`; a method has to say only how it draws graphs."""

    method: ClassVar[str]

    @abstractmethod
    def prepare(
        self,
        classifier: GraphClassifier,
        target: Target,
        statistics: ClassStatistics | None,
        seed: int,
    ) -> Drawing:
        """Get ready to draw graphs of a target."""

    def explain(
        self,
        model: nn.Module | Bundle | GraphClassifier,
        dataset: Any = None,
        *,
        spec: GraphSpec | None = None,
        targets: Sequence[str | int | Target] | str | int | Target | None = None,
        seed: int = 0,
        class_statistics: ClassStatistics | None = None,
    ) -> ExplanationSet:
        """Explain the classes of a model.

        Args:
            model: The trained classifier.
            dataset: Labelled graphs, for the features and class statistics.
            spec: The graphs it takes; a bundle knows its own.
            targets: Classes, by name or index; every class when omitted.
            seed: The same seed gives the same explanations.
            class_statistics: What the classes look like to the model.

        Raises:
            SpecError: If it is not known what graphs the model takes, or the method cannot make
                such graphs.
        """
        name = type(model).__name__
        if isinstance(model, Bundle):
            name, spec = model.dataset_name, spec or model.spec
            class_statistics, model = class_statistics or model.statistics, model.model
        if isinstance(model, GraphClassifier):
            classifier = model
        else:
            if spec is None and dataset is None:
                raise SpecError("spec is needed to know what graphs the model takes (got None)")
            dataset = None if dataset is None else graph_list(dataset)
            spec = spec or GraphSpec.from_dataset(dataset)
            classifier = GraphClassifier(model, spec, examples=dataset)
        if class_statistics is None and dataset is not None:
            class_statistics = ClassStatistics.from_dataset(classifier, dataset)
        explanations = [
            self._explain(classifier, target, class_statistics, seed)
            for target in targets_of(targets, classifier.spec, classifier.task, class_statistics)
        ]
        return ExplanationSet(
            classifier.spec,
            {explanation.name: explanation for explanation in explanations},
            name,
            classifier.describe(),
            {"versions": versions(), "seed": seed, "recipe": self.method},
            class_statistics,
        )

    __call__ = explain

    def _explain(
        self,
        classifier: GraphClassifier,
        target: Target,
        statistics: ClassStatistics | None,
        seed: int,
    ) -> Explanation:
        """Draw 1,000 graphs, score them with the native model and keep the best."""
        started = time.perf_counter()
        drawing = self.prepare(classifier, target, statistics, seed)
        drawn = drawing.draw(SAMPLES, seed)
        scores = classifier.score(drawn)
        outputs = scores.probabilities.nan_to_num(nan=0.0).cpu()
        found = target.given(scores).cpu()
        mean = float(found.mean())
        best = _best(drawn, found)
        profile = target.profile(statistics)
        alike = similarities(scores.embedding[best], profile)
        sampler = DrawnSampler(drawn.to(classifier.device), tuple(best), drawing.draw)
        graphs = sampler.modes()
        feasible = graphs.connected()
        restarts = [
            Restart(
                probability=float(found[index]),
                mean_probability=float(found[index]),
                nodes=int(graphs.num_nodes[row].round()),
                edges=int(graphs.num_edges[row].round()),
                similarity=alike[row],
                feasible=bool(feasible[row]),
                entropy=0.0,
                reason="converged" if mean >= PROBABLE else "plateau",
                iterations=drawing.iterations,
            )
            for row, index in enumerate(best)
        ]
        percentile = None
        if profile is not None and (first := alike[0]) is not None:
            percentile = profile.similarity_percentile(first)
        low = f"the model gives samples only {mean:.2f} on average"
        return Explanation(
            spec=classifier.spec,
            target=target,
            sampler=sampler,
            choice=0,
            probability=Probability(mean, float(found.std(unbiased=False)), SAMPLES),
            mode_probability=restarts[0].probability,
            class_probabilities=[float(p) for p in outputs[best[0]]],
            restarts=restarts,
            similarity=alike[0],
            similarity_percentile=percentile,
            max_nodes=drawn.num_candidates,
            max_edges=float(drawn.num_edges.max()),
            gradient="none",
            recipe=self.method,
            seed=seed,
            seconds=time.perf_counter() - started,
            history=list(drawing.history),
            notes=[low] if mean < PROBABLE else [],
        )


def _best(graphs: DenseGraphs, score: Tensor) -> list[int]:
    """Places of the best graphs, no two of them the same; at least one."""
    numbers = GraphNumbers()
    kept: list[int] = []
    usable = score.masked_fill(graphs.empty.cpu(), -1.0)
    for index in usable.argsort(descending=True, stable=True).tolist():
        if numbers.of(graphs[index].to_data_list()[0], graphs.spec) == len(kept):
            kept.append(index)
            if len(kept) == KEPT:
                break
    return kept


@dataclass(frozen=True)
class Random(Baseline):
    """Explain a class by graphs drawn without looking at the model.

    They have ``num_nodes`` nodes, the mean over the data set when omitted, and are of a ``kind`` of
    `gnninterpreter.evidence.random_baseline`.

    Example:
        >>> import gnninterpreter as gi
        >>> result = Random().explain(gi.models.load("shape"), targets="wheel")
        >>> result["wheel"].probability.mean < 0.5
        True
    """

    num_nodes: int | None = None
    kind: str = "gabriel"

    def __post_init__(self) -> None:
        if self.num_nodes is not None:
            whole_number("num_nodes", self.num_nodes, 2)
        one_of("kind", self.kind, KINDS)

    @property
    def method(self) -> str:  # type: ignore[override]
        """What it is called in reports."""
        return f"random {self.kind}"

    def prepare(
        self,
        classifier: GraphClassifier,
        target: Target,
        statistics: ClassStatistics | None,
        seed: int,
    ) -> Drawing:
        """Find out the number of nodes; the graphs are the same whatever the target."""
        nodes = self.num_nodes
        if nodes is None:
            if statistics is None:
                raise SpecError("num_nodes is needed where no class statistics give the mean size")
            share = statistics.count / statistics.count.sum()
            nodes = max(2, round(float((share * statistics.mean_nodes).sum())))
        spec, dtype = classifier.spec, classifier.dtype
        return Drawing(
            lambda n, seed: dense_graphs(
                random_baseline(spec, n, nodes, seed % 2**63, self.kind), spec, dtype
            )
        )
