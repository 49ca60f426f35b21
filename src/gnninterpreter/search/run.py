"""One target from start to finish: the phases of a recipe, all restarts at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams, around_density, uniform_start
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics, Profile
from gnninterpreter.objective import Aim, BoundaryTarget, Memory, Target
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search.anneal import Anneal
from gnninterpreter.search.ascent import Ascent
from gnninterpreter.search.bridge import Bridge
from gnninterpreter.search.callbacks import Callback, Monitor
from gnninterpreter.search.gradient import gradient_of
from gnninterpreter.search.memory import Plan, plan_restarts
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.real import Shrink
from gnninterpreter.search.recipe import Limits, Recipe
from gnninterpreter.search.result import SearchResult, joined
from gnninterpreter.search.shortcuts import FindShortcuts
from gnninterpreter.search.state import Phase, Reason, State

# Samples by which the mean score of each restart is told in the end.
SAMPLES = 200


def search(
    classifier: GraphClassifier,
    relaxed: RelaxedModel | None,
    statistics: ClassStatistics | None,
    target: Target,
    recipe: Recipe,
    restarts: int,
    seed: int,
    callbacks: tuple[Callback, ...] = (),
    at_once: int | None = None,
) -> SearchResult:
    """Search for explanations of one target.

    Args:
        classifier: The model.
        relaxed: The relaxed model where the probe has passed; None uses the score-function
            gradient.
        statistics: What real graphs look like, or None.
        target: What is asked for.
        recipe: How to search.
        restarts: Number of independent searches, run as one batch.
        seed: Seed; restart r is the same whatever the number of restarts.
        callbacks: Called as the search goes; one that returns True stops it, and it then returns
            what it has.
        at_once: Most restarts in one batch, where memory is short; they come to the same.
    """

    def found_by(recipe: Recipe) -> SearchResult:
        """All phases, as many restarts at once as there is memory for."""
        problem, limits = _problem(classifier, relaxed, statistics, target, recipe)
        names = tuple(phase.name for phase in recipe.phases)
        monitor = Monitor(tuple(callbacks), problem, limits.candidates, names)
        size = at_once or restarts
        firsts = range(0, restarts, size)
        found = []
        for number, first in enumerate(firsts):
            monitor.part = (number, len(firsts))
            ids = range(first, min(first + size, restarts))
            found.append(_search(problem, limits, recipe, ids, seed, monitor))
        return found[0] if len(found) == 1 else joined(found, problem)

    bridge = _bridge(target, statistics, recipe)
    if bridge is None:
        return found_by(recipe)
    phases = [phase for phase in recipe.phases if not isinstance(phase, (Anneal, Ascent))]
    place = 1 + max((i for i, one in enumerate(phases) if isinstance(one, Shrink)), default=-1)
    recipe = replace(recipe, phases=(*phases[:place], bridge, *phases[place:]))
    found = found_by(recipe)
    modes = classifier.score(found.distribution.mode())
    if bool(target.assigned(modes)[found.ranking()[0]]):
        return found
    # Not every border runs through what is typical: what lies on it at all is shown, and judged.
    terms = tuple(weighted for weighted in recipe.terms if weighted.term.name != "typicality")
    again = found_by(replace(recipe, terms=terms))
    better = float(again.mean_score.max()) > float(found.mean_score.max())
    return replace(again if better else found, seconds=found.seconds + again.seconds)


def _bridge(target: Target, statistics: ClassStatistics | None, recipe: Recipe) -> Bridge | None:
    """Where to begin between two classes, where real graphs of both are known and count."""
    if not recipe.typical or statistics is None or not isinstance(target, BoundaryTarget):
        return None
    profiles = [statistics.profile(row) for row in (target.index, target.other)]
    known = [one.typicality for one in profiles if one is not None and one.typicality is not None]
    return Bridge((known[0].exemplars, known[1].exemplars)) if len(known) == 2 else None


def plan(
    classifier: GraphClassifier,
    relaxed: RelaxedModel | None,
    statistics: ClassStatistics | None,
    wanted: Sequence[tuple[Target, Recipe]],
    restarts: int,
    limit: int | None = None,
) -> Plan:
    """Find out how many restarts of a search fit into memory at once, for all targets alike.

    Args:
        classifier: The model.
        relaxed: The relaxed model, or None.
        statistics: What real graphs look like, or None.
        wanted: What is to be searched for.
        restarts: How many restarts are wanted.
        limit: Bytes that may be used; most of what is free when omitted.

    Raises:
        SpecError: If not even what has to be kept fits.
    """
    problems = [(*_problem(classifier, relaxed, statistics, *one), one[1]) for one in wanted]
    problem, limits, recipe = max(problems, key=lambda one: one[1].candidates)

    def begin() -> GraphDistribution:
        return _start(classifier, recipe, limits, Streams(0, 1, device=classifier.device))

    return plan_restarts(problem, begin, recipe, restarts, limit)


def _problem(
    classifier: GraphClassifier,
    relaxed: RelaxedModel | None,
    statistics: ClassStatistics | None,
    target: Target,
    recipe: Recipe,
) -> tuple[Problem, Limits]:
    profile = target.profile(statistics)
    limits = recipe.limits(classifier.spec, profile)
    aim = _aim(target, limits, profile, recipe, classifier.device)
    certain = min(recipe.stop_score, 1.0 if profile is None else profile.certain)
    return Problem(classifier, relaxed, recipe.objective, aim, certain, Memory()), limits


def _search(
    problem: Problem, limits: Limits, recipe: Recipe, ids: range, seed: int, monitor: Monitor
) -> SearchResult:
    """Search with some of the restarts."""
    began = time.perf_counter()
    classifier, target = problem.classifier, problem.aim.target
    streams = Streams(
        seed, list(ids), purpose=crc32(f"{target.kind} {target.name}".encode()),
        device=classifier.device,
    )  # fmt: skip
    state = State.begin(_start(classifier, recipe, limits, streams.fork(0)), problem)
    seconds: dict[str, float] = {}
    for phase in recipe.phases:
        if monitor.stopped:
            break
        at = time.perf_counter()
        own = streams.fork(crc32(phase.name.encode()))
        if isinstance(phase, FindShortcuts) and ids.start:
            if ids.start >= phase.restarts:
                continue  # the first restarts have looked for them
            phase = replace(phase, restarts=phase.restarts - ids.start)
        state = _run(phase, problem, state, own, monitor)
        seconds[phase.name] = time.perf_counter() - at
    with torch.no_grad():
        mean = problem.mean_score(state.distribution, SAMPLES, streams.fork(1))
    return SearchResult(
        target=target,
        distribution=state.distribution,
        evaluation=state.evaluation,
        mean_score=mean,
        reasons=_reasons(state, mean, problem, monitor.stopped),
        iterations=list(state.iterations),
        history=state.history,
        limits=limits,
        gradient=gradient_of(problem).name,
        certain=problem.certain,
        seconds=time.perf_counter() - began,
        phase_seconds=seconds,
        population=state.population,
        shortcuts=state.shortcuts,
    )


def _aim(
    target: Target, limits: Limits, profile: Profile | None, recipe: Recipe, device: torch.device
) -> Aim:
    """What is asked for; where real graphs are known, more certainty than they have is no gain."""
    if profile is not None and not recipe.typical:
        profile = replace(profile, typicality=None)
    if profile is not None:
        known, mean = profile.typicality, profile.mean_embedding
        profile = replace(
            profile,
            typicality=None if known is None else known.to(device),
            mean_embedding=None if mean is None else mean.to(device),
        )
    aim = Aim(target, limits.max_nodes, limits.max_edges, profile)
    if profile is None or profile.typicality is None:
        return aim
    return replace(aim, enough=profile.enough)


def _run(phase: Phase, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
    """Run a phase; one that looks for graphs, only for restarts that have none yet.

    That is known where real graphs are: without them nothing says when to look no further, but a
    phase that takes long and adds nothing to a graph that is certain and whole may spare it, too.
    """
    spares = problem.aim.typicality is not None or getattr(phase, "spares", False)
    if not spares or not getattr(phase, "searches", False):
        return phase(problem, state, streams, monitor)
    rows = (~state.evaluation.met).nonzero().squeeze(1)
    if rows.numel() == len(state.reasons):
        return phase(problem, state, streams, monitor)
    if not rows.numel():
        return state
    with monitor.about(state, rows):
        found = phase(problem, state.select(rows), streams.select(rows), monitor)
    return state.merged(rows, found)


def _start(
    classifier: GraphClassifier, recipe: Recipe, limits: Limits, streams: Streams
) -> GraphDistribution:
    spec, dtype = classifier.spec, classifier.dtype
    if recipe.start == "uniform":
        return uniform_start(spec, limits.candidates, streams, dtype)
    # Some classes are found from sparse graphs and some from dense ones, so restarts differ.
    pairs = GraphDistribution.num_pairs(spec, limits.candidates)
    share = 0.3 + 0.7 * streams.uniform(1, dtype=dtype).squeeze(1)
    density = (share * limits.max_edges / pairs).clamp(0.02, 0.6)
    return around_density(spec, limits.candidates, density, streams, dtype=dtype)


def _reasons(state: State, mean: Tensor, problem: Problem, stopped: bool) -> list[Reason]:
    """Why each restart ended: one that later phases brought home has converged after all."""
    found = []
    over = (state.evaluation.edges > problem.aim.max_edges).tolist()
    fine = problem.presentable(problem.propose(state.graphs)).tolist()
    for reason, score, good, large in zip(state.reasons, mean.tolist(), fine, over, strict=True):
        if score >= problem.certain and good:
            found.append(Reason.CONVERGED)
        elif stopped:
            found.append(Reason.STOPPED)
        elif reason is Reason.NON_FINITE:
            found.append(reason)
        elif large:
            found.append(Reason.BUDGET_NOT_MET)
        else:
            # What the gradient called converged may be lost again on more samples.
            found.append(Reason.RAN_OUT if reason is Reason.RAN_OUT else Reason.PLATEAU)
    return found
