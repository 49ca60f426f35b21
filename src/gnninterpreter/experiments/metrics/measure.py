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
from gnninterpreter.spec.data import node_count

CONTROLS = 5


@dataclass(frozen=True)
class Reference:
    """What explanations of one class are held against; the oracle is the rule of the data set."""

    classifier: GraphClassifier
    statistics: ClassStatistics
    real: Sequence[Data]
    valencies: Mapping[str, int] | None = None
    oracle: Callable[[Data], int] | None = None


@dataclass(frozen=True)
class Metrics:
    """An explanation in numbers: shares and means over fresh samples, unless said otherwise.

    ``score`` is the validation score of the most probable graph, the ``mmd`` figures discrepancies
    to real graphs of the class, ``granularity`` near 1 for small parts of a typical graph.
    ``valencies`` and ``oracle`` are None without such a rule. ``cosine`` is that of the embeddings
    of two samples, near 1 where they are consistent. ``flips`` is the share of real graphs of other
    classes that turn into this one once the most probable graph is attached to them by one edge,
    ``control`` the same for random graphs with as many nodes and edges.
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
    fresh = explanation.sample(samples, seed)
    drawn = [graph for graph in fresh if graph.num_edges]
    valid = validity(fresh, spec, target, valencies=reference.valencies, oracle=reference.oracle)
    mine = [graph for graph in reference.real if int(graph.y) == target][:samples]
    far = bool(drawn and mine)
    best = explanation.best
    size = (node_count(best), explanation.num_edges)
    controls = [random_of_size(spec, *size, seed + i) for i in range(CONTROLS * bool(size[1]))]
    others = [graph for graph in reference.real if int(graph.y) != target][:samples]
    spread = diversity(classifier, drawn[: samples // 2]) if drawn else None
    mean_nodes = float(statistics.mean_nodes[target])

    def flips(parts: list[Data]) -> float:
        parts = parts if others else []
        return _mean([flip_rate(classifier, part, others, target, seed) for part in parts])

    return Metrics(
        probability=found.mean,
        std=found.std,
        score=likeness(classifier, statistics, best, target).score if size[1] else 0.0,
        degree_mmd=degree_mmd(drawn, mine) if far else nan,
        clustering_mmd=clustering_mmd(drawn, mine) if far else nan,
        spectrum_mmd=spectrum_mmd(drawn, mine) if far else nan,
        granularity=_mean([granularity(node_count(g), mean_nodes) for g in drawn]),
        density=_mean([density(graph) for graph in drawn]),
        class_density=_mean([density(graph) for graph in mine]),
        connected=valid.connected,
        valencies=valid.valencies,
        oracle=valid.oracle,
        cosine=nan if spread is None else spread.cosine,
        distinct=nan if spread is None else spread.distinct,
        flips=flips([best] if size[1] else []),
        control=flips(controls),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan
