"""Every figure that methods are compared by, from one function: an explanation in, numbers out.

It knows nothing of how the explanation was found, so that ours, XGNN and random graphs are measured
alike, on discrete graphs and by the native model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

from torch_geometric.data import Data

from gnninterpreter.evidence.joining import flip_rate
from gnninterpreter.evidence.random_graphs import random_of_size
from gnninterpreter.experiments.metrics.discrepancy import clustering_mmd, degree_mmd, spectrum_mmd
from gnninterpreter.experiments.metrics.diversity import diversity
from gnninterpreter.experiments.metrics.likeness import density, granularity, likeness
from gnninterpreter.experiments.metrics.quality import class_probability
from gnninterpreter.experiments.metrics.validity import validity
from gnninterpreter.explanation import Explanation
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics

CONTROLS = 5


@dataclass(frozen=True)
class Reference:
    """What explanations of one class are held against.

    Valencies are the most edges of each category of node; the oracle gives the true class by rule.
    """

    classifier: GraphClassifier
    statistics: ClassStatistics
    real: Sequence[Data]
    valencies: Mapping[str, int] | None = None
    oracle: Callable[[Data], int] | None = None


@dataclass(frozen=True)
class Metrics:
    """An explanation in numbers; over fresh samples, unless something else is said.

    Args:
        probability: Mean class probability.
        std: Its standard deviation.
        score: Validation score of the most probable graph, ``(s p d)^(1/3)``.
        degree_mmd: Discrepancy of degrees to real graphs of the class.
        clustering_mmd: The same for clustering coefficients.
        spectrum_mmd: The same for Laplacian spectra.
        granularity: Near 1 for small parts of a typical graph, 0 for full size.
        density: Share of pairs of nodes joined.
        class_density: The same for real graphs of the class.
        connected: Share of connected graphs.
        valencies: Share that obeys valencies; None without such a rule.
        oracle: Share that is of the class by rule; None without one.
        cosine: Mean cosine of the embeddings of two samples; near 1 is consistent.
        distinct: Share of distinct samples.
        flips: Share of real graphs of other classes that turn into this one once the most probable
            graph is attached to them by one edge.
        control: The same for random graphs with as many nodes and edges.
    """

    probability: float
    std: float
    score: float
    degree_mmd: float
    clustering_mmd: float
    spectrum_mmd: float
    granularity: float
    density: float
    class_density: float
    connected: float
    valencies: float | None
    oracle: float | None
    cosine: float
    distinct: float
    flips: float
    control: float


def measure(
    explanation: Explanation, reference: Reference, samples: int = 100, seed: int = 0
) -> Metrics:
    """Measure an explanation of any method; all but the probability over this many fresh graphs."""
    classifier, target = reference.classifier, explanation.target.index
    spec, statistics = classifier.spec, reference.statistics
    found = class_probability(explanation, classifier, seed=seed)
    drawn = [graph for graph in explanation.sample(samples, seed) if graph.num_edges]
    valid = validity(
        explanation.sample(samples, seed),
        spec,
        target,
        valencies=reference.valencies,
        oracle=reference.oracle,
    )
    mine = [graph for graph in reference.real if int(graph.y) == target][:samples]
    far = bool(drawn and mine)
    best = explanation.best
    size = (int(best.num_nodes or 0), int(best.num_edges) // (1 if spec.directed else 2))
    others = [graph for graph in reference.real if int(graph.y) != target][:samples]
    spread = diversity(classifier, drawn[: samples // 2]) if drawn else None
    mean_nodes = float(statistics.mean_nodes[target])
    return Metrics(
        probability=found.mean,
        std=found.std,
        score=likeness(classifier, statistics, best, target).score if size[1] else 0.0,
        degree_mmd=degree_mmd(drawn, mine) if far else nan,
        clustering_mmd=clustering_mmd(drawn, mine) if far else nan,
        spectrum_mmd=spectrum_mmd(drawn, mine) if far else nan,
        granularity=_mean([granularity(int(g.num_nodes or 0), mean_nodes) for g in drawn]),
        density=_mean([_density(graph, spec.directed) for graph in drawn]),
        class_density=_mean([_density(graph, spec.directed) for graph in mine]),
        connected=valid.connected,
        valencies=valid.valencies,
        oracle=valid.oracle,
        cosine=nan if spread is None else spread.cosine,
        distinct=nan if spread is None else spread.distinct,
        flips=_flips(classifier, [best] if size[1] else [], others, target, seed),
        control=_flips(
            classifier,
            [random_of_size(spec, *size, seed + i) for i in range(CONTROLS)] if size[1] else [],
            others,
            target,
            seed,
        ),
    )


def _flips(
    classifier: GraphClassifier,
    parts: Sequence[Data],
    others: Sequence[Data],
    target: int,
    seed: int,
) -> float:
    if not others:
        return nan
    return _mean([flip_rate(classifier, part, others, target, seed) for part in parts])


def _density(graph: Data, directed: bool) -> float:
    edges = graph.num_edges / (1 if directed else 2)
    return density(int(graph.num_nodes or 0), edges, directed)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan
