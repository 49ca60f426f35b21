"""From what a search found to an explanation: the final numbers, all from the native model."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from gnninterpreter.evidence import Rule, evidence_of
from gnninterpreter.evidence.thresholds import CERTAIN
from gnninterpreter.explanation.explanation import Curve, Explanation, Probability, Restart
from gnninterpreter.explanation.sampler import REPORTING, LatentSampler
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics, Profile
from gnninterpreter.models.task import Task
from gnninterpreter.objective import Aim, Proposals, violation
from gnninterpreter.search import History, SearchResult

__all__ = ["explanation_of", "similarities"]

SAMPLES = 1000


def explanation_of(
    result: SearchResult,
    classifier: GraphClassifier,
    statistics: ClassStatistics | None,
    recipe: str,
    seed: int,
    rule: Rule | None = None,
) -> Explanation:
    """Score the restarts with the native model, choose the best and gather the evidence."""
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
    evidence = evidence_of(explanation, classifier, scores=sampled, rule=rule)
    return replace(explanation, evidence=evidence)


def similarities(embedding: Tensor, profile: Profile | None) -> list[float | None]:
    """Cosine similarity of each embedding, [B, D], to the class mean; None where there is none."""
    if profile is None or profile.mean_embedding is None:
        return [None] * len(embedding)
    mean = profile.mean_embedding.to(embedding).unsqueeze(0)
    return [float(v) for v in torch.cosine_similarity(embedding, mean).nan_to_num(nan=-1.0)]


def _notes(explanation: Explanation, profile: Profile | None) -> list[str]:
    """Say what may help where the target was not reached; the evidence says what gave way."""
    if profile is None or explanation.probability.mean >= CERTAIN:
        return []
    usual = profile.mean_nodes
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
