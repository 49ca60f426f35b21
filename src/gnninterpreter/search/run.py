"""One target from start to finish: the phases of a recipe, all restarts at once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from zlib import crc32

import torch
from torch import Tensor

from gnninterpreter.distribution import (
    GraphDistribution,
    Streams,
    around_density,
    uniform_start,
)
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics, Profile
from gnninterpreter.objective import Aim, Memory, Target
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search.ascent import MEAN_WEIGHT
from gnninterpreter.search.callbacks import Callback, Monitor
from gnninterpreter.search.gradient import gradient_of
from gnninterpreter.search.problem import Evaluation, Problem
from gnninterpreter.search.recipe import Limits, Recipe
from gnninterpreter.search.state import History, Phase, Reason, State

__all__ = ["SearchResult", "search"]

# Samples by which the mean score of each restart is told in the end.
SAMPLES = 200


@dataclass(frozen=True)
class SearchResult:
    """What R restarts came to.

    Args:
        target: What was asked for.
        distribution: The R learned distributions.
        evaluation: What the objective makes of the most probable graph of each.
        mean_score: Mean score over samples of each, [R].
        reasons: Why each ended.
        iterations: Gradient iterations each took.
        history: What was seen along the way.
        limits: How large graphs may be.
        gradient: Which gradient was used.
        certain: Score that counts as certain.
        seconds: Time it took.
        phase_seconds: Time that each phase took.
        population: Different certain and typical graphs, where samples come from; None where they
            come from the distributions.
        shortcuts: Certain graphs that are unlike anything real; None where none was found.
    """

    target: Target
    distribution: GraphDistribution
    evaluation: Evaluation
    mean_score: Tensor
    reasons: list[Reason]
    iterations: list[int]
    history: History
    limits: Limits
    gradient: str
    certain: float
    seconds: float
    phase_seconds: Mapping[str, float]
    population: DenseGraphs | None = None
    shortcuts: DenseGraphs | None = None

    def ranking(self) -> list[int]:
        """Restarts from best to worst: by the mean over samples first, then by the objective."""
        shortfall = MEAN_WEIGHT * (self.certain - self.mean_score).clamp_min(0)
        order: list[int] = (self.evaluation.cost + shortfall).argsort().tolist()
        return order


def search(
    classifier: GraphClassifier,
    relaxed: RelaxedModel | None,
    statistics: ClassStatistics | None,
    target: Target,
    recipe: Recipe,
    restarts: int,
    seed: int,
    callbacks: tuple[Callback, ...] = (),
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
    """
    began = time.perf_counter()
    profile = target.profile(statistics)
    limits = recipe.limits(classifier.spec, profile)
    aim = _aim(target, limits, profile, recipe, classifier.device)
    certain = min(recipe.stop_score, 1.0 if profile is None else profile.certain)
    # On a GPU looking things up would wait for it, and it scores graphs faster than it waits.
    memory = Memory() if classifier.device.type == "cpu" else None
    problem = Problem(classifier, relaxed, recipe.objective, aim, certain, memory)
    streams = Streams(
        seed, restarts, purpose=crc32(f"{target.kind} {target.name}".encode()),
        device=classifier.device,
    )  # fmt: skip
    monitor = Monitor(tuple(callbacks), problem, limits.candidates)
    state = State.begin(_start(classifier, recipe, limits, streams.fork(0)), problem)
    seconds: dict[str, float] = {}
    for phase in recipe.phases:
        if monitor.stopped:
            break
        at = time.perf_counter()
        state = _run(phase, problem, state, streams.fork(crc32(phase.name.encode())), monitor)
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
        certain=certain,
        seconds=time.perf_counter() - began,
        phase_seconds=seconds,
        population=state.population,
        shortcuts=state.shortcuts,
    )


def _aim(
    target: Target, limits: Limits, profile: Profile | None, recipe: Recipe, device: torch.device
) -> Aim:
    """What is asked for; where real graphs are known, more certainty than they have is no gain."""
    typical = any(w.term.name == "typicality" for w in recipe.terms)
    if profile is not None and not typical:
        profile = replace(profile, typicality=None)
    if profile is not None and profile.typicality is not None:
        profile = replace(profile, typicality=profile.typicality.to(device))
    aim = Aim(target, limits.max_nodes, limits.max_edges, profile)
    if profile is None or profile.typicality is None:
        return aim
    return replace(aim, enough=profile.certain + (1 - profile.certain) / 2)


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
    for reason, score, feasible, large in zip(
        state.reasons, mean.tolist(), state.evaluation.feasible.tolist(), over, strict=True
    ):
        if score >= problem.certain and feasible:
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
