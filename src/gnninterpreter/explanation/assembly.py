"""From what a search found to an explanation: the final numbers, all from the native model."""

from __future__ import annotations

from dataclasses import replace

import torch

from gnninterpreter.distribution import Streams
from gnninterpreter.evidence import Rule, evidence_of
from gnninterpreter.evidence.thresholds import CERTAIN
from gnninterpreter.explanation.explanation import (
    SAMPLE_PURPOSE,
    Curve,
    Explanation,
    Probability,
    Restart,
)
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.search import History, SearchResult

__all__ = ["explanation_of"]

SAMPLES = 1000


def explanation_of(
    result: SearchResult,
    classifier: GraphClassifier,
    statistics: ClassStatistics | None,
    target: int,
    recipe: str,
    seed: int,
    rule: Rule | None = None,
) -> Explanation:
    """Score the restarts with the native model, choose the best and gather the evidence."""
    choice = result.ranking()[0]
    chosen = result.distribution.select(torch.tensor([choice]))
    streams = Streams(seed, 1, purpose=SAMPLE_PURPOSE, device=classifier.device)
    sampled = classifier.probability(chosen.discrete(SAMPLES, streams), target).double()
    probability = Probability(float(sampled.mean()), float(sampled.std()), SAMPLES)
    modes = result.distribution.mode()
    scores = classifier.score(modes)
    probabilities = scores.probabilities.nan_to_num(nan=0.0)
    similarities: list[float | None] = [None] * result.distribution.restarts
    percentile = None
    if statistics is not None and float(statistics.count[target]) > 0:
        mean = statistics.mean_embedding[target].to(scores.embedding)
        cosine = torch.cosine_similarity(scores.embedding, mean.unsqueeze(0)).nan_to_num(nan=-1.0)
        similarities = [float(value) for value in cosine]
        percentile = statistics.similarity_percentile(target, float(cosine[choice]))
    undecided = result.distribution.undecided()
    restarts = [
        Restart(
            probability=float(probabilities[r, target]),
            mean_probability=float(result.mean_probability[r]),
            nodes=int(modes.num_nodes[r]),
            edges=int(modes.num_edges[r]),
            similarity=similarities[r],
            feasible=bool(result.judgement.sound[r]),
            undecided=float(undecided[r]),
            reason=str(result.reasons[r]),
            iterations=int(result.iterations[r]),
        )
        for r in range(result.distribution.restarts)
    ]
    explanation = Explanation(
        spec=classifier.spec,
        target=ClassTarget(target, classifier.spec.class_names[target]),
        distribution=result.distribution.detach(),
        choice=choice,
        probability=probability,
        mode_probability=restarts[choice].probability,
        class_probabilities=[float(p) for p in probabilities[choice]],
        restarts=restarts,
        similarity=similarities[choice],
        similarity_percentile=percentile,
        max_nodes=result.sizes.max_nodes,
        max_edges=result.sizes.max_edges,
        gradient=result.gradient,
        recipe=recipe,
        seed=seed,
        seconds=result.seconds,
        history=_curves(result.history),
    )
    explanation.notes.extend(_notes(explanation, statistics))
    evidence = evidence_of(explanation, classifier, scores=sampled, rule=rule)
    return replace(explanation, evidence=evidence)


def _notes(explanation: Explanation, statistics: ClassStatistics | None) -> list[str]:
    """Say what may help where the target was not reached; the evidence says what gave way."""
    if statistics is None or explanation.probability.mean >= CERTAIN:
        return []
    usual = float(statistics.mean_nodes[explanation.target.index])
    if explanation.num_nodes < explanation.max_nodes or usual <= explanation.max_nodes:
        return []
    return [
        f"it has as many nodes as it may, {explanation.max_nodes}, and graphs of the class "
        f"have {usual:.0f} on average: a higher max_nodes may reach the class"
    ]


def _curves(history: History) -> list[Curve]:
    curves = [
        Curve(name, history.iteration, [[float(v) for v in row] for row in rows])
        for name, rows in (
            ("probability", history.probability),
            ("expected edges", history.expected_edges),
            ("similarity", history.similarity),
        )
    ]
    names = dict.fromkeys(name for terms in history.terms for name in terms)
    for name in names:
        present = [
            (i, terms[name])
            for i, terms in zip(history.iteration, history.terms, strict=True)
            if name in terms
        ]
        values = [[float(v) for v in row] for _, row in present]
        curves.append(Curve(name, [i for i, _ in present], values))
    return curves
