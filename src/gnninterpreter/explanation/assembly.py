"""From what a search found to an explanation: the final numbers, all from the native model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.batches import compact
from gnninterpreter.chem.molecules import rdkit_installed
from gnninterpreter.chem.reading import is_molecular
from gnninterpreter.evidence import Rule, evidence_of
from gnninterpreter.evidence.familiarity import familiarity
from gnninterpreter.evidence.patterns import Answers, RealAnswers
from gnninterpreter.evidence.thresholds import CERTAIN, OUTLYING_PERCENTILE
from gnninterpreter.explanation.explanation import Curve, Explanation, Probability
from gnninterpreter.explanation.holding import MOST_LOOKED_AT, holding, lacking
from gnninterpreter.explanation.modes import Restart
from gnninterpreter.explanation.sampler import REPORTING, LatentSampler, PopulationSampler
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.models.profile import Profile
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import Aim, Proposals, violation
from gnninterpreter.search import History, SearchResult
from gnninterpreter.search.spread import ENOUGH
from gnninterpreter.typicality import FEWEST_GRAPHS

SAMPLES = 1000


def explanation_of(
    result: SearchResult,
    classifier: GraphClassifier,
    statistics: ClassStatistics | None,
    recipe: str,
    seed: int,
    rule: Rule | None = None,
    *,
    real: RealAnswers | None = None,
    graphs: Sequence[Data] | None = None,
    peers: Sequence[GraphClassifier] = (),
) -> Explanation:
    """Score the restarts with the native model, choose the best and gather the evidence.

    ``graphs`` are the data, to tell whether an answer is one of them.
    """
    target = result.target
    profile = target.profile(statistics)
    answers = Answers()
    if real is not None:
        answers = real.about(target, result.shortcuts, result.certain)
    if answers.cores and answers.cores[0].makes:
        result = holding(result, answers.cores[0], classifier, profile)
    elif answers.lacked:
        result = lacking(result, answers.lacked, classifier, profile)
    modes = result.distribution.mode()
    scores = classifier.score(modes)
    given = target.score(scores).nan_to_num(nan=0.0)
    aim = Aim(target, result.limits.max_nodes, result.limits.max_edges)
    whole = violation(Proposals(modes, scores, aim)) <= 0
    typical = _percentiles(modes, profile)
    good = whole & given.ge(result.certain)
    fine = [
        ok and (p is None or p >= OUTLYING_PERCENTILE)
        for ok, p in zip(good.tolist(), typical, strict=True)
    ]
    met = (good & result.evaluation.met).tolist()
    known = None if profile is None else profile.typicality

    def familiar(graph: Data) -> bool:
        if answers.links is not None and answers.links.unseen(graph, classifier.spec) is not None:
            return False
        if known is None:
            return True
        found = familiarity(classifier, graph, known.exemplars.graphs.to_data_list())
        return found is None or found.passed

    choice = _chosen(result.ranking(), fine, met, modes, answers, familiar)
    sampler = LatentSampler.of(result.distribution.detach(), choice)
    if result.population is not None:
        sampler = PopulationSampler(sampler.distribution, sampler.weights, result.population)
    drawn = classifier.score(sampler.sample(SAMPLES, seed, REPORTING))
    sampled = target.given(drawn)
    probability = Probability(float(sampled.mean()), float(sampled.std()), SAMPLES)
    outputs = scores.outputs.nan_to_num(nan=0.0)
    alike = similarities(scores.embedding, profile)
    percentile = None
    if profile is not None and (found := alike[choice]) is not None:
        percentile = profile.similarity_percentile(found)
    scored = given.tolist()
    # One look at the device for all restarts, not one for each number; in the order of the fields.
    columns = (
        scored,
        result.mean_score.tolist(),
        map(int, modes.num_nodes.tolist()),
        map(int, modes.num_edges.tolist()),
        alike,
        whole.tolist(),
        result.distribution.entropy().tolist(),
        map(str, result.reasons),
        map(int, result.iterations),
        typical,
        [score >= result.certain for score in scored],
    )
    restarts = [Restart(*row) for row in zip(*columns, strict=True)]
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
        notes=answers.notes,
        cores=answers.cores,
        shortcuts=answers.shortcuts,
        real_graphs=answers.exemplars,
        sampled_outputs=_spreads(drawn),
    )
    explanation.notes.extend(_notes(explanation, profile))
    if result.population is not None and (count := len(result.population)) < ENOUGH:
        few = "one graph is" if count == 1 else f"{count} different graphs that were found are"
        repeat = f"only {few} certain and typical, so that more samples repeat"
        explanation.notes.append(repeat)
    evidence = evidence_of(
        explanation,
        classifier,
        scores=sampled,
        assigned=target.assigned(drawn),
        rule=rule,
        profile=profile,
        graphs=graphs,
        peers=peers,
        answers=answers,
        kept=() if graphs or statistics is None else statistics.kept(),
        told=None if real is None else real.told,
    )
    return replace(explanation, evidence=evidence)


def _chosen(
    ranking: Sequence[int],
    fine: Sequence[bool],
    met: Sequence[bool],
    modes: DenseGraphs,
    answers: Answers,
    familiar: Callable[[Data], bool],
) -> int:
    """The restart that is shown.

    Prototype and core should tell of the same thing: of the graphs that ``met`` all that was asked
    for, the best one with the first core is shown, or with the first of the others that one holds.
    Where nearly all of the class hold a core and hardly any other graph does, a graph without it is
    a chance of the model: one with it is shown if it is only ``fine``: certain, feasible and
    typical. So is one with a core of another class where the class is what is left without it. Of
    several the first is shown that is ``familiar``: to the layers of the model, and of edges that
    real graphs hold. The ``ranking`` has the best restarts first, and the first of the cores of
    ``answers`` tells most.
    """
    if bool(modes.empty[ranking[0]]):
        return ranking[0]
    ranking = ranking[:MOST_LOOKED_AT]
    graphs = dict(zip(ranking, modes[torch.tensor(ranking)].to_data_list(), strict=True))
    free = [
        restart
        for restart in ranking
        if fine[restart] and not any(core.held_by(graphs[restart]) for core in answers.lacked)
    ]
    ranking = free if answers.lacked and free else ranking
    found = [restart for restart in ranking if restart == ranking[0] or met[restart]]
    for place, core in enumerate(answers.cores):
        makes = place == 0 and core.makes
        may = fine if makes else met
        asked = [restart for restart in ranking if restart == ranking[0] or may[restart]]
        held = [restart for restart in asked if core.held_by(graphs[restart])]
        found = held or found
        if held or makes:
            break
    return next((restart for restart in found if familiar(graphs[restart])), found[0])


def _spreads(scores: Scores) -> list[tuple[float, float]]:
    """Mean and standard deviation of each output; graphs without edges have none."""
    rows = scores.outputs.double()
    rows = rows[torch.isfinite(rows).all(1)]
    if not len(rows):
        return []
    spread = rows.std(0, unbiased=False)
    return list(zip(rows.mean(0).tolist(), spread.tolist(), strict=True))


def similarities(embedding: Tensor, profile: Profile | None) -> list[float | None]:
    """Cosine similarity of each embedding, [B, D], to the class mean; None where there is none."""
    if profile is None or profile.mean_embedding is None:
        return [None] * len(embedding)
    mean = profile.mean_embedding.to(embedding).unsqueeze(0)
    return list(torch.cosine_similarity(embedding, mean).nan_to_num(nan=-1.0).tolist())


def _percentiles(modes: DenseGraphs, profile: Profile | None) -> list[float | None]:
    """How typical each graph is among real ones, in percent; None where that is not known."""
    if profile is None or profile.typicality is None or profile.count < FEWEST_GRAPHS:
        return [None] * len(modes)
    found = profile.typicality.bank.percentile(compact(modes))
    # A graph without edges has no nodes: there is nothing to compare.
    return [
        None if empty else float(value)
        for value, empty in zip(found.tolist(), modes.empty.tolist(), strict=True)
    ]


def _notes(explanation: Explanation, profile: Profile | None) -> list[str]:
    """Say what could not be judged, and what may help where the target was not reached."""
    notes, target = [], explanation.target
    if is_molecular(explanation.spec) and not rdkit_installed():
        notes.append(
            "RDKit is not installed, so that molecules were judged by the bonds of their atoms "
            "alone and have no formula and no SMILES: pip install 'gnninterpreter[chem]'"
        )
    if profile is None:
        return notes
    unjudged = profile.typicality is None or profile.count < FEWEST_GRAPHS
    if unjudged and profile.mean_embedding is not None:
        few = f"there are only {profile.count}" if profile.count < FEWEST_GRAPHS else "none fit"
        notes.append(
            f"how typical the graph is was not judged: it takes {FEWEST_GRAPHS} real graphs "
            f"{target.members}, and {few}"
        )
    usual, limit = profile.mean_nodes, explanation.max_nodes
    if explanation.probability.mean < CERTAIN and explanation.num_nodes >= limit < usual:
        notes.append(
            f"it has as many nodes as it may, {limit}, and graphs {target.members} have "
            f"{usual:.0f} on average: a higher max_nodes may reach {target.noun}"
        )
    return notes


def _curves(history: History) -> list[Curve]:
    curves = [
        Curve(name, history.iteration, [row.tolist() for row in rows])
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
        values = [row.tolist() for _, row in present]
        curves.append(Curve(name, [i for i, _ in present], values))
    return curves
