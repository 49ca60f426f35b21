"""Which targets are searched for together, as what problem, on how many nodes, and from where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from gnninterpreter.batches import present_nodes
from gnninterpreter.distribution import GraphDistribution, Streams, around_density, uniform_start
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.profile import Profile
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import Aim, Memory, Target, beside
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search.memory import Plan, plan_restarts
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.recipe import Limits, Recipe
from gnninterpreter.typicality import FEWEST_GRAPHS, TypicalityBank

# How many times as many pairs of nodes the largest graphs may have as those of targets on average:
# a GPU waits for the host rather than for larger graphs.
UNEVEN_ON_GPU = 2.0
OURS = "gnninterpreter."


def groups(
    classifier: GraphClassifier,
    statistics: ClassStatistics | None,
    wanted: Sequence[tuple[Target, Recipe]],
) -> list[list[tuple[Target, Recipe]]]:
    """Targets that can be searched for together, those that cannot by themselves.

    They have the same recipe, real graphs to begin at and as many candidate nodes: on more nodes
    than it needs a target takes longer, and may draw other numbers. A GPU waits for the host rather
    than for larger graphs, so that there they need not be as many. Without real graphs, how many
    samples are drawn depends on the largest graph of all. Phases and terms that others wrote need
    not know of several targets.
    """
    on_cpu = classifier.device.type == "cpu"
    found: list[tuple[Any, list[int], list[tuple[Target, Recipe]]]] = []
    for target, recipe in wanted:
        profile = target.profile(statistics)
        nodes, kind = recipe.limits(classifier.spec, profile).max_nodes, None
        known = None if profile is None or not recipe.typical else profile.typicality
        parts = *recipe.phases, *(weighted.term for weighted in recipe.terms)
        if not all(type(part).__module__.startswith(OURS) for part in parts):
            known = None
        if profile is not None and known is not None and isinstance(known.bank, TypicalityBank):
            sizes = present_nodes(known.exemplars.graphs).sum(1)
            if int(sizes.min()) <= nodes and profile.mean_embedding is not None:
                judged = profile.count >= FEWEST_GRAPHS
                kind = recipe, nodes if on_cpu else None, judged, known.bank.layout
        alike = [
            (counts, group)
            for other, counts, group in found
            if kind is not None and other == kind and _even([*counts, nodes])
        ]
        if alike:
            alike[0][0].append(nodes)
            alike[0][1].append((target, recipe))
        else:
            found.append((kind, [nodes], [(target, recipe)]))
    return [group for _, _, group in found]


def _even(candidates: Sequence[int]) -> bool:
    """Whether so many candidate nodes are near enough to each other to be searched on together."""
    pairs = [count * count for count in candidates]
    return max(pairs) * len(pairs) <= UNEVEN_ON_GPU * sum(pairs)


def plan(
    classifier: GraphClassifier,
    relaxed: RelaxedModel | None,
    statistics: ClassStatistics | None,
    wanted: Sequence[tuple[Target, Recipe]],
    restarts: int,
    limit: int | None = None,
    together: int = 1,
) -> Plan:
    """Find out how many restarts of a search fit into memory at once, for all targets alike.

    Args:
        classifier: The model.
        relaxed: The relaxed model, or None.
        statistics: What real graphs look like, or None.
        wanted: What is to be searched for.
        restarts: How many restarts of each are wanted.
        limit: Bytes that may be used; most of what is free when omitted.
        together: Targets that are searched for together, if there is room for them.

    Raises:
        SpecError: If not even what has to be kept fits.
    """
    problems = [
        (*problem_of(classifier, relaxed, statistics, [target], recipe, restarts), recipe)
        for target, recipe in wanted
    ]
    problem, limits, recipe = max(problems, key=lambda one: candidates_of(one[1]))

    def begin() -> GraphDistribution:
        return start_of(problem, recipe, limits, Streams(0, 1, device=classifier.device))

    return plan_restarts(problem, begin, recipe, restarts, limit, together)


def problem_of(
    classifier: GraphClassifier,
    relaxed: RelaxedModel | None,
    statistics: ClassStatistics | None,
    targets: Sequence[Target],
    recipe: Recipe,
    restarts: int,
) -> tuple[Problem, list[Limits]]:
    """What is to be solved for targets that are searched for together, and the limits of each."""
    profiles = [target.profile(statistics) for target in targets]
    limits = [recipe.limits(classifier.spec, profile) for profile in profiles]
    aims = [
        _aim(target, limit, profile, recipe, classifier.device)
        for target, limit, profile in zip(targets, limits, profiles, strict=True)
    ]
    like = torch.zeros((), dtype=classifier.dtype, device=classifier.device)
    aim = beside(aims, restarts, like)
    return Problem(classifier, relaxed, recipe.objective, aim, Memory()), limits


def _aim(
    target: Target, limits: Limits, profile: Profile | None, recipe: Recipe, device: torch.device
) -> Aim:
    """What is asked for; where real graphs are known, more certainty than they have is no gain."""
    certain = min(recipe.stop_score, 1.0 if profile is None else profile.certain)
    if profile is not None and not recipe.typical:
        profile = replace(profile, typicality=None)
    if profile is not None:
        known, mean = profile.typicality, profile.mean_embedding
        profile = replace(
            profile,
            typicality=None if known is None else known.to(device),
            mean_embedding=None if mean is None else mean.to(device),
        )
    aim = Aim(target, limits.max_nodes, limits.max_edges, profile, certain=certain)
    if profile is None or profile.typicality is None:
        return aim
    return replace(aim, enough=profile.enough)


def candidates_of(limits: Sequence[Limits]) -> int:
    """Candidate nodes of targets that are searched for together: as many as the largest needs."""
    return max(limit.max_nodes for limit in limits)


def start_of(
    problem: Problem, recipe: Recipe, limits: Sequence[Limits], streams: Streams
) -> GraphDistribution:
    """Where the distributions of all restarts begin."""
    spec, dtype = problem.classifier.spec, problem.classifier.dtype
    candidates = candidates_of(limits)
    if recipe.start == "uniform":
        return uniform_start(spec, candidates, streams, dtype)
    # Some classes are found from sparse graphs and some from dense ones, so restarts differ.
    pairs = GraphDistribution.num_pairs(spec, candidates)
    share = 0.3 + 0.7 * streams.uniform(1, dtype=dtype).squeeze(1)
    density = (share * problem.aim.max_edges / pairs).clamp(0.02, 0.6)
    return around_density(spec, candidates, density, streams, dtype=dtype)
