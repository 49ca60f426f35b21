"""The random baseline: graphs that know nothing of the model (paper, appendix on the baseline)."""

from __future__ import annotations

from dataclasses import dataclass

from gnninterpreter.baselines.baseline import Baseline, Drawing
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence.random_graphs import KINDS, random_baseline
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.target import Target


@dataclass(frozen=True)
class Random(Baseline):
    """Explain a class by graphs drawn without looking at the model.

    Args:
        num_nodes: Nodes of every graph; the mean over the data set when omitted.
        kind: ``"gabriel"`` or ``"gilbert"``, as in `gnninterpreter.evidence.random_baseline`.

    Example:
        >>> import gnninterpreter as gi
        >>> result = Random().explain(gi.models.load("shape"), targets="wheel")
        >>> result["wheel"].probability.mean < 0.5
        True
    """

    num_nodes: int | None = None
    kind: str = "gabriel"

    def __post_init__(self) -> None:
        if self.num_nodes is not None and self.num_nodes < 2:
            raise SpecError(f"num_nodes must be at least 2 (got {self.num_nodes})")
        if self.kind not in KINDS:
            raise SpecError(f"kind must be one of {', '.join(KINDS)} (got {self.kind!r})")

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
