"""From what a search found to an explanation: the final numbers, all from the native model."""

from __future__ import annotations

import torch
from torch import Tensor

from gnninterpreter.explanation.explanation import Curve, Explanation, Probability, Restart
from gnninterpreter.explanation.sampler import REPORTING, LatentSampler
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.search import History, SearchResult

__all__ = ["explanation_of", "similarities"]

SAMPLES = 1000
PROBABLE, WANTED = 0.9, 0.99
TENTH = 10.0


def explanation_of(
    result: SearchResult,
    classifier: GraphClassifier,
    statistics: ClassStatistics | None,
    target: int,
    recipe: str,
    seed: int,
) -> Explanation:
    """Score the restarts with the native model and choose the best."""
    choice = result.ranking()[0]
    sampler = LatentSampler.of(result.distribution.detach(), choice)
    sampled = classifier.probability(sampler.sample(SAMPLES, seed, REPORTING), target).double()
    probability = Probability(float(sampled.mean()), float(sampled.std()), SAMPLES)
    modes = result.distribution.mode()
    scores = classifier.score(modes)
    probabilities = scores.probabilities.nan_to_num(nan=0.0)
    alike = similarities(scores.embedding, statistics, target)
    percentile = None
    if statistics is not None and (found := alike[choice]) is not None:
        percentile = statistics.similarity_percentile(target, found)
    undecided = result.distribution.undecided()
    restarts = [
        Restart(
            probability=float(probabilities[r, target]),
            mean_probability=float(result.mean_probability[r]),
            nodes=int(modes.num_nodes[r]),
            edges=int(modes.num_edges[r]),
            similarity=alike[r],
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
        sampler=sampler,
        choice=choice,
        probability=probability,
        mode_probability=restarts[choice].probability,
        class_probabilities=[float(p) for p in probabilities[choice]],
        restarts=restarts,
        similarity=alike[choice],
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
    return explanation


def similarities(
    embedding: Tensor, statistics: ClassStatistics | None, target: int
) -> list[float | None]:
    """Cosine similarity of each embedding, [B, D], to the class mean; None where there is none."""
    if statistics is None or float(statistics.count[target]) == 0:
        return [None] * len(embedding)
    mean = statistics.mean_embedding[target].to(embedding).unsqueeze(0)
    return [float(v) for v in torch.cosine_similarity(embedding, mean).nan_to_num(nan=-1.0)]


def _notes(explanation: Explanation, statistics: ClassStatistics | None) -> list[str]:
    """Say what gave way, if anything did, and what may help."""
    notes = []
    if explanation.num_edges == 0:
        notes.append("no graph was found: the most probable one has no edges")
    mean = explanation.probability.mean
    if mean < PROBABLE:
        notes.append(
            f"the model gives samples only {mean:.2f} on average: "
            "do not read this as what the class looks like to it"
        )
    elif mean < WANTED:
        notes.append(f"the model is not certain of this: samples have {mean:.3f} on average")
    if mean < WANTED and statistics is not None:
        usual = float(statistics.mean_nodes[explanation.target.index])
        if explanation.num_nodes >= explanation.max_nodes and usual > explanation.max_nodes:
            notes.append(
                f"it has as many nodes as it may, {explanation.max_nodes}, and graphs of the class "
                f"have {usual:.0f} on average: a higher max_nodes may reach the class"
            )
    restart = explanation.restarts[explanation.choice]
    if not restart.feasible and explanation.num_edges:
        notes.append("the graph is in pieces, too small or over the size limit")
    percentile = explanation.similarity_percentile
    if percentile is not None and percentile < TENTH:
        notes.append(
            "out of distribution: less like the class than "
            f"{100 - percentile:.0f}% of its real graphs"
        )
    share = sum(r.mean_probability >= PROBABLE for r in explanation.restarts)
    if share < len(explanation.restarts) / 2:
        notes.append(f"only {share} of {len(explanation.restarts)} restarts reached the class")
    return notes


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
