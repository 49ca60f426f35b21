"""Targets from start to finish: the phases of a recipe, all restarts of all of them at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import torch
from torch import Tensor

from gnninterpreter.batches import present_nodes
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import BoundaryTarget, Target, Typical
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search.anneal import Anneal
from gnninterpreter.search.ascent import Ascent
from gnninterpreter.search.bridge import Bridge
from gnninterpreter.search.callbacks import Callback, Monitor
from gnninterpreter.search.gradient import gradient_of
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.recipe import Limits, Recipe
from gnninterpreter.search.repeating import Aside
from gnninterpreter.search.result import SearchResult, joined
from gnninterpreter.search.shortcuts import FindShortcuts
from gnninterpreter.search.shrink import Shrink
from gnninterpreter.search.state import Phase, Reason, State
from gnninterpreter.search.together import candidates_of, problem_of, start_of

# Samples by which the mean score of each restart is told in the end.
SAMPLES = 200
# How many times as many pairs of nodes the largest graphs may have as those of targets on average.
UNEVEN = 1.25


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
    """Search for explanations of one target; see `search_together`."""
    asked = classifier, relaxed, statistics, [target]
    return search_together(*asked, recipe, restarts, seed, callbacks, at_once)[0]


def search_together(
    classifier: GraphClassifier,
    relaxed: RelaxedModel | None,
    statistics: ClassStatistics | None,
    targets: Sequence[Target],
    recipe: Recipe,
    restarts: int,
    seed: int,
    callbacks: tuple[Callback, ...] = (),
    at_once: int | None = None,
) -> list[SearchResult]:
    """Search for explanations of targets, all restarts of all of them as one batch.

    Args:
        classifier: The model.
        relaxed: The relaxed model where the probe has passed; None uses the score-function
            gradient.
        statistics: What real graphs look like, or None.
        targets: What is asked for: one target, or one of the `groups`. Each comes to the same as
            alone.
        recipe: How to search.
        restarts: Number of independent searches for each target, run as one batch.
        seed: Seed; restart r is the same whatever the number of restarts.
        callbacks: Called as the search goes; one that returns True stops it, and it then returns
            what it has.
        at_once: Most restarts in one batch, where memory is short; targets are then searched for
            one after the other, their restarts in parts, and come to the same.
    """

    def found_by(recipe: Recipe) -> list[SearchResult]:
        """All phases, as many restarts at once as there is memory for."""
        problem, limits = problem_of(classifier, relaxed, statistics, targets, recipe, restarts)
        names = tuple(phase.name for phase in recipe.phases)
        monitor = Monitor(tuple(callbacks), problem, candidates_of(limits), names)
        size = restarts if at_once is None else min(at_once, restarts)
        firsts = range(0, restarts, size)
        parts = []
        for number, first in enumerate(firsts):
            monitor.part = (number, len(firsts))
            ids = range(first, min(first + size, restarts))
            parts.append(_search(problem, limits, recipe, ids, seed, monitor))
        if len(parts) == 1:
            return parts[0]
        return [joined([found for (found,) in parts], problem)]

    if len(targets) > 1 and at_once is not None and at_once < len(targets) * restarts:
        asked = recipe, restarts, seed, callbacks, at_once
        return [search(classifier, relaxed, statistics, one, *asked) for one in targets]
    bridge = _bridge(targets[0], statistics, recipe)
    if bridge is None:
        return found_by(recipe)
    (target,) = targets
    phases = [phase for phase in recipe.phases if not isinstance(phase, (Anneal, Ascent))]
    place = 1 + max((i for i, one in enumerate(phases) if isinstance(one, Shrink)), default=-1)
    recipe = replace(recipe, phases=(*phases[:place], bridge, *phases[place:]))
    (found,) = found_by(recipe)
    modes = classifier.score(found.distribution.mode())
    if bool(target.assigned(modes)[found.ranking()[0]]):
        return [found]
    # Not every border runs through what is typical: what lies on it at all is shown, and judged.
    (again,) = found_by(replace(recipe, terms=recipe.objective.without(Typical.name).terms))
    better = float(again.mean_score.max()) > float(found.mean_score.max())
    return [replace(again if better else found, seconds=found.seconds + again.seconds)]


def _bridge(target: Target, statistics: ClassStatistics | None, recipe: Recipe) -> Bridge | None:
    """Where to begin between two classes, where real graphs of both are known and count."""
    if not recipe.typical or statistics is None or not isinstance(target, BoundaryTarget):
        return None
    profiles = [statistics.profile(row) for row in (target.index, target.other)]
    known = [one.typicality for one in profiles if one is not None and one.typicality is not None]
    return Bridge((known[0].exemplars, known[1].exemplars)) if len(known) == 2 else None


def _search(
    problem: Problem,
    limits: Sequence[Limits],
    recipe: Recipe,
    ids: range,
    seed: int,
    monitor: Monitor,
) -> list[SearchResult]:
    """Search with some of the restarts of each target."""
    began, aim = time.perf_counter(), problem.aim
    kinds = [f"{one.target.kind} {one.target.name}" for one in aim.aims]
    device = problem.classifier.device
    streams = Streams.cat(
        [Streams(seed, list(ids), purpose=crc32(kind.encode()), device=device) for kind in kinds]
    )
    state = State.begin(start_of(problem, recipe, limits, streams.fork(0)), problem)
    phases = _phases(recipe, ids.start)
    own = {phase.name: streams.fork(crc32(phase.name.encode())) for phase in phases}
    aside: Aside[tuple[DenseGraphs | None, ...]] | None = None
    for phase in phases:
        # Without a GPU nothing is gained.
        if isinstance(phase, FindShortcuts) and device.type != "cpu":
            aside = Aside(phase.looking(problem, state, own[phase.name]))
            problem = replace(problem, aside=aside)
    seconds: dict[str, float] = {}
    for phase in phases:
        if monitor.stopped:
            break
        at = time.perf_counter()
        if isinstance(phase, FindShortcuts) and aside is not None:
            if not monitor.graphs(phase.name, 0, 1, state.graphs):
                state = state.with_(shortcuts=aside.result())
        else:
            state = _run(phase, problem, state, own[phase.name], monitor)
        seconds[phase.name] = time.perf_counter() - at
    with torch.no_grad():
        mean = problem.mean_score(state.distribution, SAMPLES, streams.fork(1))
    reasons = _reasons(state, mean, problem, monitor.stopped)
    gradient, took = gradient_of(problem).name, time.perf_counter() - began
    results = []
    for place, (one, rows) in enumerate(zip(aim.aims, aim.spans, strict=True)):
        iterations = list(state.iterations[rows])
        results.append(
            SearchResult(
                target=one.target,
                distribution=state.distribution.select(rows),
                evaluation=state.evaluation.select(rows),
                mean_score=mean[rows],
                reasons=reasons[rows],
                iterations=iterations,
                history=state.history.select(rows, until=max(iterations)),
                limits=limits[place],
                gradient=gradient,
                certain=one.certain,
                seconds=took / len(limits),
                phase_seconds={name: part / len(limits) for name, part in seconds.items()},
                population=state.population[place],
                shortcuts=state.shortcuts[place],
            )
        )
    return results


def _phases(recipe: Recipe, first: int) -> list[Phase]:
    """Phases of a part of the restarts; the first restarts look for shortcuts."""
    found: list[Phase] = []
    for phase in recipe.phases:
        if not isinstance(phase, FindShortcuts):
            found.append(phase)
        elif first < phase.restarts:
            found.append(replace(phase, restarts=phase.restarts - first))
    return found


def _run(phase: Phase, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
    """Run a phase; one that looks for graphs, only for restarts that have none yet.

    That is known where real graphs are: without them nothing says when to look no further, but a
    phase that takes long and adds nothing to a graph that is certain and whole may spare it, too.
    One that works on as few nodes as its graphs need may work on one target after the other.
    """
    spares = problem.aim.bank is not None or getattr(phase, "spares", False)
    some = [torch.arange(len(state.reasons), device=streams.keys.device)]
    if spares and getattr(phase, "searches", False):
        some = [(~state.evaluation.met).nonzero().squeeze(1)]
    elif getattr(phase, "narrows", False) and _uneven(problem, state):
        some = problem.rows_of_each(state.graphs)
    for rows in some:
        if rows.numel() == len(state.reasons):
            state = phase(problem, state, streams, monitor)
        elif rows.numel() and not monitor.stopped:
            with monitor.about(state, rows):
                own = problem.select(rows)
                found = phase(own, state.select(rows), streams.select(rows), monitor)
            state = state.merged(rows, found)
    return state


def _uneven(problem: Problem, state: State) -> bool:
    """Whether graphs of some targets are so much smaller that a CPU is faster one by one.

    A GPU takes as long for small ones.
    """
    if problem.classifier.device.type != "cpu":
        return False
    rows = problem.rows_of_each(state.graphs)
    nodes = present_nodes(state.graphs).sum(1)
    pairs = torch.stack([nodes[own].max() for own in rows]).double().square()
    return bool(pairs.max() > UNEVEN * pairs.mean())


def _reasons(state: State, mean: Tensor, problem: Problem, stopped: bool) -> list[Reason]:
    """Why each restart ended: one that later phases brought home has converged after all."""
    found = []
    over = state.evaluation.edges > problem.aim.max_edges
    fine = problem.presentable(problem.propose(state.graphs)) & (mean >= problem.aim.certain)
    for reason, good, large in zip(state.reasons, fine.tolist(), over.tolist(), strict=True):
        if good:
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
