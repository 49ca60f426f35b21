"""The random baseline: graphs that know nothing of the model (paper, appendix on the baseline)."""

from __future__ import annotations

import time
from dataclasses import dataclass

from torch import nn

from gnninterpreter.baselines.connecting import connect
from gnninterpreter.baselines.sampled import SampledExplanation, explanation_from, to_dense
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence.random_graphs import KINDS, random_baseline
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec

__all__ = ["Random"]


@dataclass(frozen=True)
class Random:
    """Explain a class by graphs drawn without looking at the model.

    Args:
        num_nodes: Nodes of every graph; the mean over the data set when omitted.
        kind: ``"gabriel"`` or ``"gilbert"``, as in `gnninterpreter.evidence.random_baseline`.

    Example:
        >>> import gnninterpreter as gi
        >>> explanation = Random().explain(gi.models.load("shape"), target="wheel")
        >>> explanation.probability.mean < 0.5
        True
    """

    num_nodes: int | None = None
    kind: str = "gabriel"

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.num_nodes is not None and self.num_nodes < 2:
            raise SpecError(f"num_nodes must be at least 2 (got {self.num_nodes})")
        if self.kind not in KINDS:
            raise SpecError(f"kind must be one of {', '.join(KINDS)} (got {self.kind!r})")

    def explain(
        self,
        model: nn.Module | Bundle | GraphClassifier,
        spec: GraphSpec | None = None,
        target: str | int = 0,
        *,
        seed: int = 0,
        class_statistics: ClassStatistics | None = None,
    ) -> SampledExplanation:
        """Draw graphs and see what the model makes of them.

        Args:
            model: The trained classifier.
            spec: The graphs it takes; a bundle knows its own.
            target: The class.
            seed: The same seed gives the same graphs, whatever the class.
            class_statistics: For the mean number of nodes, where ``num_nodes`` is not given.

        Raises:
            SpecError: If the number of nodes is not known.
        """
        classifier, statistics = connect(model, spec, class_statistics)
        nodes = self.num_nodes
        if nodes is None:
            if statistics is None:
                raise SpecError("num_nodes is needed where no class statistics give the mean size")
            share = statistics.count / statistics.count.sum()
            nodes = max(2, round(float((share * statistics.mean_nodes).sum())))
        started = time.perf_counter()

        def draw(n: int, seed: int) -> DenseGraphs:
            graphs = random_baseline(classifier.spec, n, nodes, seed, self.kind)
            return to_dense(graphs, classifier)

        return explanation_from(
            classifier,
            classifier.spec.class_index(target),
            draw,
            method=f"random {self.kind}",
            seed=seed,
            seconds=time.perf_counter() - started,
            statistics=statistics,
        )
