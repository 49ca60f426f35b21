"""What a baseline returns: an `Explanation` whose samples come from elsewhere than latent logits.

Evaluation, report, drawing and export take it as they take any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.distribution import from_graphs
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence.thresholds import PROBABLE
from gnninterpreter.explanation import Curve, Explanation, Probability, Restart
from gnninterpreter.graphs import DenseGraphs, dense_width
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.target import ClassTarget

__all__ = ["SampledExplanation", "explanation_from", "to_dense"]

SAMPLES = 1000
KEPT = 8


@dataclass(repr=False)
class SampledExplanation(Explanation):
    """An explanation whose graphs a sampler draws.

    ``distribution`` holds the best distinct graphs of the first 1,000 draws, each as a distribution
    that has all but collapsed to it, so that `best`, `modes`, `graph` and `export` work as ever;
    they are listed as ``restarts``. `sample` and ``probability`` are about the sampler itself. Only
    the graphs are stored by `ExplanationSet.save`, not the sampler.

    Args:
        sampler: Called with a number and a seed; returns that many fresh graphs.
    """

    sampler: Callable[[int, int], DenseGraphs] = field(kw_only=True)

    def sample_dense(self, n: int, seed: int = 0) -> DenseGraphs:
        """Draw fresh graphs from the sampler as one batch on the candidate nodes."""
        if n < 1:
            raise SpecError(f"n must be at least 1 (got {n})")
        return self.sampler(n, seed)


def explanation_from(
    classifier: GraphClassifier,
    target: int,
    draw: Callable[[int, int], DenseGraphs],
    *,
    method: str,
    seed: int,
    seconds: float,
    statistics: ClassStatistics | None = None,
    history: Sequence[Curve] = (),
    notes: Sequence[str] = (),
    iterations: int = 0,
) -> SampledExplanation:
    """Draw 1,000 graphs, score them with the native model and keep the best as the explanation.

    Args:
        classifier: The model.
        target: The class.
        draw: The sampler.
        method: What to call it in reports.
        seed: Seed of the draws.
        seconds: Time the method took.
        statistics: What the class looks like to the model.
        history: Curves of its search.
        notes: What gave way, in plain sentences.
        iterations: Updates it took.
    """
    drawn = draw(SAMPLES, seed)
    scores = classifier.score(drawn)
    probabilities = scores.probabilities.nan_to_num(nan=0.0).cpu()
    found = probabilities[:, target].double()
    mean = float(found.mean())
    kept = _best(drawn, found)
    similarity = _similarities(scores.embedding.cpu(), statistics, target)
    graphs = drawn[torch.tensor(kept)]
    sound = graphs.connected()
    restarts = [
        Restart(
            probability=float(found[index]),
            mean_probability=float(found[index]),
            nodes=int(graphs.num_nodes[row].round()),
            edges=int(graphs.num_edges[row].round()),
            similarity=None if similarity is None else float(similarity[index]),
            feasible=bool(sound[row]),
            undecided=0.0,
            reason="converged" if mean >= PROBABLE else "plateau",
            iterations=iterations,
        )
        for row, index in enumerate(kept)
    ]
    percentile = None
    if statistics is not None and restarts[0].similarity is not None:
        percentile = statistics.similarity_percentile(target, restarts[0].similarity)
    low = [f"the model gives samples only {mean:.2f} on average"] if mean < PROBABLE else []
    return SampledExplanation(
        spec=classifier.spec,
        target=ClassTarget(target, classifier.spec.class_names[target]),
        distribution=from_graphs(graphs),
        choice=0,
        probability=Probability(mean, float(found.std(unbiased=False)), SAMPLES),
        mode_probability=restarts[0].probability,
        class_probabilities=[float(p) for p in probabilities[kept[0]]],
        restarts=restarts,
        similarity=restarts[0].similarity,
        similarity_percentile=percentile,
        max_nodes=drawn.num_candidates,
        max_edges=float(drawn.num_edges.max()),
        gradient="none",
        recipe=method,
        seed=seed,
        seconds=seconds,
        history=list(history),
        notes=[*low, *notes],
        sampler=draw,
    )


def to_dense(graphs: Sequence[Data], classifier: GraphClassifier) -> DenseGraphs:
    """Put one-hot coded graphs on common candidate nodes; nodes without edges are absent."""
    spec = classifier.spec
    n = max(2, *(int(graph.num_nodes or 0) for graph in graphs))
    weight = torch.zeros(len(graphs), n, n, dtype=classifier.dtype)
    nodes = torch.zeros(len(graphs), n, dense_width(spec.nodes), dtype=classifier.dtype)
    edges = None
    if spec.edges:
        edges = weight.new_zeros(len(graphs), n, n, dense_width(spec.edges))
    for b, graph in enumerate(graphs):
        source, end = graph.edge_index
        weight[b, end, source] = 1.0
        nodes[b, : graph.x.size(0)] = graph.x.to(classifier.dtype)
        if edges is not None:
            edges[b, end, source] = graph.edge_attr.to(classifier.dtype)
    return DenseGraphs(spec, weight, nodes, edges)


def _best(graphs: DenseGraphs, probability: Tensor) -> list[int]:
    """Indices of the best graphs, no two with the same degrees and features; at least one."""
    kept: list[int] = []
    seen: set[tuple[object, ...]] = set()
    usable = probability.masked_fill(graphs.empty.cpu(), -1.0)
    for index in usable.argsort(descending=True, stable=True).tolist():
        degree = graphs.weight[index].sum(1)
        rows = torch.cat([degree.unsqueeze(1), graphs.nodes[index]], dim=1)[degree > 0]
        key = tuple(sorted(tuple(row) for row in rows.tolist()))
        if key in seen:
            continue
        seen.add(key)
        kept.append(index)
        if len(kept) == KEPT:
            break
    return kept


def _similarities(
    embedding: Tensor, statistics: ClassStatistics | None, target: int
) -> Tensor | None:
    if statistics is None or float(statistics.count[target]) == 0:
        return None
    mean = statistics.mean_embedding[target].to(embedding).unsqueeze(0)
    return torch.cosine_similarity(embedding, mean).nan_to_num(nan=-1.0)
