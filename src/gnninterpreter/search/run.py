"""One class from start to finish: gradient search, local search, settling, all restarts at once."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.distribution import (
    GraphDistribution,
    Streams,
    around_density,
    around_graphs,
    uniform_start,
)
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import Goal
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search.anneal import anneal, random_walkers
from gnninterpreter.search.batches import widened
from gnninterpreter.search.gradient import Gradient, RelaxedGradient, ScoreFunctionGradient
from gnninterpreter.search.judge import Judge, Judgement
from gnninterpreter.search.loop import History, Reason, SearchState, gradient_search
from gnninterpreter.search.persist import ROUNDS, persist
from gnninterpreter.search.recipe import Recipe, Sizes
from gnninterpreter.search.refine import STEPS, refine
from gnninterpreter.search.settle import ATTEMPTS, centred, settle
from gnninterpreter.search.watch import Callback, Watch

__all__ = ["SearchResult", "search"]

# Purposes of random streams, kept apart so that one more draw here changes nothing there.
WALK, START, SEARCH, REFINE, SETTLE, EVALUATE, PERSIST = range(7)


@dataclass(frozen=True)
class SearchResult:
    """What R restarts came to.

    Args:
        distribution: The R learned distributions.
        judgement: How the most probable graph of each was judged.
        mean_probability: Mean class probability over samples of each, [R], native model.
        reasons: Why each ended.
        iterations: Gradient iterations each took.
        history: What was seen along the way.
        sizes: The limits.
        gradient: Which gradient was used.
        seconds: Time it took.
    """

    distribution: GraphDistribution
    judgement: Judgement
    mean_probability: Tensor
    reasons: list[Reason]
    iterations: list[int]
    history: History
    sizes: Sizes
    gradient: str
    seconds: float

    def ranking(self) -> list[int]:
        """Restarts from best to worst."""
        shortfall = (0.99 - self.mean_probability).clamp_min(0) * 100
        order: list[int] = (self.judgement.cost + shortfall).argsort().tolist()
        return order


def search(
    classifier: GraphClassifier,
    relaxed: RelaxedModel | None,
    statistics: ClassStatistics | None,
    target: int,
    recipe: Recipe,
    restarts: int,
    seed: int,
    callbacks: tuple[Callback, ...] = (),
) -> SearchResult:
    """Search for explanations of one class.

    Args:
        classifier: The model.
        relaxed: The relaxed model where the probe has passed; None uses the score-function
            gradient.
        statistics: What the classes look like, or None.
        target: The class.
        recipe: How to search.
        restarts: Number of independent searches, run as one batch.
        seed: Seed; restart r is the same whatever the number of restarts.
        callbacks: Called at every look; one that returns True stops the search, which then returns
            what it has.
    """
    began = time.perf_counter()
    sizes = recipe.sizes(classifier.spec, statistics, target)
    goal = _goal(classifier, statistics, target, sizes, restarts)

    def streams(purpose: int) -> Streams:
        return Streams(seed, restarts, purpose=purpose + 10 * target, device=classifier.device)

    judge = Judge(classifier, relaxed)
    watch = Watch(callbacks, goal, judge, sizes.candidates)
    start = _start(classifier, recipe, sizes, streams(START))
    if recipe.start == "anneal":
        found, seen = _walk(classifier, recipe, sizes, goal, judge, streams(WALK), watch)
        start = _lean(start, found, seen, streams(START))
    gradient: Gradient = ScoreFunctionGradient(classifier)
    if relaxed is not None:
        gradient = RelaxedGradient(relaxed)
    if watch.stopped:
        state = _unsearched(start, judge(start.mode(), goal))
    else:
        state = gradient_search(
            start, goal, recipe, gradient, judge, streams(SEARCH), (watch.tell,)
        )
    distribution, judgement = state.distribution, state.judgement
    if recipe.refine and not watch.stopped:
        graphs, judgement = refine(
            distribution.mode(), goal, judge, streams(REFINE), look=watch.graphs("refine", STEPS)
        )
        if not watch.stopped:
            graphs, judgement = persist(
                graphs,
                goal,
                judge,
                streams(PERSIST),
                recipe.stop_probability,
                look=watch.graphs("persist", len(ROUNDS)),
            )
        if recipe.settle and not watch.stopped:
            distribution, _ = settle(
                distribution,
                graphs,
                goal,
                judge,
                streams(SETTLE),
                look=watch.distributions("settle", ATTEMPTS),
            )
        else:
            distribution = centred(distribution, graphs)
    mean = _native_mean(classifier, distribution, target, streams(EVALUATE))
    reasons = [
        _final_reason(reason, float(p), bool(edges > sizes.max_edges), bool(sound), recipe)
        for reason, p, edges, sound in zip(
            state.reasons, mean, judgement.edges, judgement.sound, strict=True
        )
    ]
    return SearchResult(
        distribution,
        judgement,
        mean,
        reasons,
        state.iterations,
        state.history,
        sizes,
        gradient.name,
        time.perf_counter() - began,
    )


def _goal(
    classifier: GraphClassifier,
    statistics: ClassStatistics | None,
    target: int,
    sizes: Sizes,
    restarts: int,
) -> Goal:
    device, dtype = classifier.device, classifier.dtype

    def each(value: float, kind: torch.dtype = dtype) -> Tensor:
        return torch.full((restarts,), value, dtype=kind, device=device)

    mean, similarity = None, -1.0
    if statistics is not None and float(statistics.count[target]) > 0:
        mean = statistics.mean_embedding[target].to(device, dtype).expand(restarts, -1)
        similarity = float(statistics.similarity_quantiles[target, 10])
    return Goal(
        each(target, torch.long),
        mean,
        each(sizes.max_edges),
        each(sizes.max_nodes),
        each(similarity),
    )


def _start(
    classifier: GraphClassifier, recipe: Recipe, sizes: Sizes, streams: Streams
) -> GraphDistribution:
    spec, dtype = classifier.spec, classifier.dtype
    if recipe.start == "uniform":
        return uniform_start(spec, sizes.candidates, streams, dtype)
    # Some classes are found from sparse graphs and some from dense ones, so restarts differ.
    pairs = GraphDistribution.num_pairs(spec, sizes.candidates)
    share = 0.3 + 0.7 * streams.uniform(1, dtype=dtype).squeeze(1)
    density = (share * sizes.max_edges / pairs).clamp(0.02, 0.6)
    return around_density(spec, sizes.candidates, density, streams, dtype=dtype)


def _walk(
    classifier: GraphClassifier,
    recipe: Recipe,
    sizes: Sizes,
    goal: Goal,
    judge: Judge,
    streams: Streams,
    watch: Watch,
) -> tuple[DenseGraphs, Judgement]:
    nodes = min(recipe.walk_nodes, sizes.candidates)
    walkers = random_walkers(classifier.spec, nodes, recipe.walkers, streams, classifier.dtype)
    look = watch.graphs("walk", recipe.walk_steps)
    graphs, seen = anneal(walkers, goal, judge, streams, recipe.walk_steps, look)
    return widened(graphs, sizes.candidates), seen


def _lean(
    start: GraphDistribution, found: DenseGraphs, seen: Judgement, streams: Streams
) -> GraphDistribution:
    """Begin around the graphs that were found, and where none was, as without walks."""
    leaning = around_graphs(found, streams)
    good = seen.probability >= 0.5
    return start.with_latents(
        [
            torch.where(good.view((-1,) + (1,) * (a.dim() - 1)), a, b)
            for a, b in zip(leaning.latents(), start.latents(), strict=True)
        ]
    )


def _native_mean(
    classifier: GraphClassifier, distribution: GraphDistribution, target: int, streams: Streams
) -> Tensor:
    samples = 200
    graphs: DenseGraphs = distribution.discrete(samples, streams)
    return classifier.probability(graphs, target).view(-1, samples).mean(dim=1)


def _final_reason(
    reason: Reason, mean: float, over_limit: bool, sound: bool, recipe: Recipe
) -> Reason:
    """A restart that local search and settling brought home has converged after all."""
    acceptable = sound if recipe.refine else not over_limit
    if mean >= recipe.stop_probability and acceptable:
        return Reason.CONVERGED
    if reason in (Reason.NON_FINITE, Reason.STOPPED):
        return reason
    return Reason.BUDGET_NOT_MET if over_limit else Reason.PLATEAU


def _unsearched(start: GraphDistribution, judgement: Judgement) -> SearchState:
    """What a search that was stopped before its first iteration has come to."""
    reasons = [Reason.STOPPED] * start.restarts
    return SearchState(start, judgement, reasons, [0] * start.restarts, History())
