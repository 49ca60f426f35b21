"""From what a search found to an explanation: the final numbers, all from the native model."""

from __future__ import annotations

import torch
from torch import Tensor

from gnninterpreter.explanation.explanation import Curve, Explanation, Probability, Restart
from gnninterpreter.explanation.sampler import REPORTING, LatentSampler
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics, Profile
from gnninterpreter.models.task import Task
from gnninterpreter.objective import Aim, Proposals, violation
from gnninterpreter.search import History, SearchResult

__all__ = ["explanation_of", "similarities"]

SAMPLES = 1000
PROBABLE, WANTED = 0.9, 0.99
TENTH = 10.0


def explanation_of(
    result: SearchResult,
    classifier: GraphClassifier,
    statistics: ClassStatistics | None,
    recipe: str,
    seed: int,
) -> Explanation:
    """Score the restarts with the native model and choose the best."""
    target, choice = result.target, result.ranking()[0]
    profile = target.profile(statistics)
    sampler = LatentSampler.of(result.distribution.detach(), choice)
    sampled = target.score(classifier.score(sampler.sample(SAMPLES, seed, REPORTING)))
    sampled = sampled.nan_to_num(nan=0.0).double()
    probability = Probability(float(sampled.mean()), float(sampled.std()), SAMPLES)
    modes = result.distribution.mode()
    scores = classifier.score(modes)
    given = target.score(scores).nan_to_num(nan=0.0)
    outputs = scores.logits if classifier.task is Task.REGRESSION else scores.probabilities
    outputs = outputs.nan_to_num(nan=0.0)
    alike = similarities(scores.embedding, profile)
    percentile = None
    if profile is not None and (found := alike[choice]) is not None:
        percentile = profile.similarity_percentile(found)
    undecided = result.distribution.undecided()
    aim = Aim(target, result.limits.max_nodes, result.limits.max_edges)
    whole = violation(Proposals(modes, scores, aim)) <= 0
    restarts = [
        Restart(
            probability=float(given[r]),
            mean_probability=float(result.mean_score[r]),
            nodes=int(modes.num_nodes[r]),
            edges=int(modes.num_edges[r]),
            similarity=alike[r],
            feasible=bool(whole[r]),
            undecided=float(undecided[r]),
            reason=str(result.reasons[r]),
            iterations=int(result.iterations[r]),
        )
        for r in range(result.distribution.restarts)
    ]
    explanation = Explanation(
        spec=classifier.spec,
        target=target,
        sampler=sampler,
        choice=choice,
        probability=probability,
        mode_probability=restarts[choice].probability,
        class_probabilities=[float(p) for p in outputs[choice]],
        restarts=restarts,
        similarity=alike[choice],
        similarity_percentile=percentile,
        max_nodes=result.limits.max_nodes,
        max_edges=result.limits.max_edges,
        gradient=result.gradient,
        recipe=recipe,
        seed=seed,
        seconds=result.seconds,
        history=_curves(result.history),
    )
    explanation.notes.extend(_notes(explanation, profile))
    return explanation


def similarities(embedding: Tensor, profile: Profile | None) -> list[float | None]:
    """Cosine similarity of each embedding, [B, D], to the class mean; None where there is none."""
    if profile is None or profile.mean_embedding is None:
        return [None] * len(embedding)
    mean = profile.mean_embedding.to(embedding).unsqueeze(0)
    return [float(v) for v in torch.cosine_similarity(embedding, mean).nan_to_num(nan=-1.0)]


def _notes(explanation: Explanation, profile: Profile | None) -> list[str]:
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
    if mean < WANTED and profile is not None:
        usual = profile.mean_nodes
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
