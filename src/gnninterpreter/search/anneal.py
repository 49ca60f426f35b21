"""Annealing: where to begin, found by many cheap random walks over small discrete graphs.

Some classes are needles: the model says no to everything but the exact pattern, and from a random
soft graph no gradient points there. A walk over discrete graphs that also follows the embedding
does find them, since graphs on the way look more and more like the class to the layers before the
last. Every restart has a few walkers of its own, which differ in how far they follow the class
probability and how far the embedding; the best graph any of them saw is where the gradient search
begins.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Goal
from gnninterpreter.search.batches import choose, compact, replaced, with_varied_absent_nodes
from gnninterpreter.search.judge import SIZE_WEIGHT, Judge, Judgement
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.spec import GraphSpec

__all__ = ["anneal", "random_walkers"]

# One move changes the energy by anything from 0.01 to 10. Cooled by a constant factor, a walk
# spends as much time on each order of these; by a constant difference, nearly all on the largest.
HOT, COLD = 1.0, 0.02
PROBABILITY_SCALE, SIMILARITY_SCALE, STRUCTURE_SCALE, EDGE_SCALE = 2.0, 10.0, 3.0, 0.01
LOOK_EVERY = 10
Energy = Callable[[Judgement, Goal, int], Tensor]
# How far the walkers of a restart follow the probability and the embedding, in turn.
FOLLOW = ((1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (0.2, 1.0))


def anneal(
    walkers: DenseGraphs,
    goal: Goal,
    judge: Judge,
    streams: Streams,
    steps: int,
    look: Callable[[int, DenseGraphs], bool] | None = None,
    *,
    energy: Energy | None = None,
    temperatures: tuple[float, float] = (HOT, COLD),
) -> tuple[DenseGraphs, Judgement]:
    """Let the walkers of R restarts walk, and return the best graph each restart's have seen.

    A restart whose best graph leaves nothing to be desired walks no further, so that what it finds
    does not depend on the others.

    Args:
        walkers: R * W discrete graphs, those of one restart beside each other.
        goal: What each restart is after, fields [R].
        judge: Says how good a graph is.
        streams: One stream for each restart.
        steps: Most steps of a walker.
        look: Called now and then with the steps done and the best graph of each restart; True ends
            the walk.
        energy: What walkers seek to lower, from what was seen, what they are after and how many a
            restart has; when omitted, a mixture of probability and likeness that differs between
            walkers.
        temperatures: At the beginning and at the end of the walk, both positive.
    """
    each = len(walkers) // len(streams)
    space = MoveSpace(walkers.spec, walkers.num_candidates, walkers.weight.device)
    measure = energy or _energy
    hot, cold = temperatures
    aims = _for_each_walker(goal, each)
    seen = judge(compact(walkers), aims)
    level = measure(seen, aims, each)
    best, cost = _best_of_each(walkers, seen.cost, each)
    walking = torch.arange(len(streams), device=goal.target.device)
    for step in range(steps):
        # Looked at now and then: each look waits for the device.
        if step % LOOK_EVERY == 0:
            keep = cost[walking] > SIZE_WEIGHT
            if not bool(keep.any()) or (look is not None and look(step, best)):
                break
            if not bool(keep.all()):
                members = keep.repeat_interleave(each)
                walkers, level, aims = walkers[members], level[members], aims.select(members)
                walking, streams = walking[keep], streams.select(keep)
        going = cost[walking] > SIZE_WEIGHT
        temperature = hot * (cold / hot) ** (step / steps)
        walkers = with_varied_absent_nodes(walkers)
        chance = streams.uniform(2, each, dtype=walkers.weight.dtype)
        moves = _pick(space.possible(walkers), chance[:, 0].flatten())
        proposals = space.apply(walkers, moves)
        seen = judge(compact(proposals), aims)
        new = measure(seen, aims, each)
        accept = chance[:, 1].flatten() < ((level - new) / temperature).clamp_max(0).exp()
        accept = accept & going.repeat_interleave(each)
        walkers = choose(accept, proposals, walkers)
        level = torch.where(accept, new, level)
        found, found_cost = _best_of_each(proposals, seen.cost, each)
        better = (found_cost < cost[walking]) & going
        best = replaced(best, walking, choose(better, found, best[walking]))
        cost[walking] = torch.where(better, found_cost, cost[walking])
    return best, judge(best, goal)


def _for_each_walker(goal: Goal, each: int) -> Goal:
    return goal.select(
        torch.arange(len(goal.target), device=goal.target.device).repeat_interleave(each)
    )


def random_walkers(
    spec: GraphSpec, num_candidates: int, each: int, streams: Streams, dtype: torch.dtype
) -> DenseGraphs:
    """Discrete graphs to begin with: any size, any density, any features; R * ``each`` of them."""
    pairs = GraphDistribution.num_pairs(spec, num_candidates)
    restarts, device = len(streams), streams.keys.device
    blank = GraphDistribution(
        spec,
        num_candidates,
        torch.zeros(restarts, pairs, dtype=dtype, device=device),
        tuple(
            torch.zeros(restarts, num_candidates, width, dtype=dtype, device=device)
            for width in GraphDistribution.latent_widths(spec.nodes)
        ),
        tuple(
            torch.zeros(restarts, pairs, width, dtype=dtype, device=device)
            for width in GraphDistribution.latent_widths(spec.edges)
        ),
    )
    features = blank.discrete(each, streams, jitter=1.5)
    size, density = streams.uniform(2, each, dtype=dtype).flatten(2).unbind(1)
    size = 3 + (size * (num_candidates - 2)).floor().flatten()
    density = 0.2 + 0.8 * density.flatten()
    inside = torch.arange(num_candidates, device=device) < size.unsqueeze(1)
    allowed = inside.unsqueeze(1) & inside.unsqueeze(2)
    chance = blank.spread(streams.uniform(each, pairs, dtype=dtype).flatten(0, 1))
    weight = (allowed & (chance > 0) & (chance < density.view(-1, 1, 1))).to(dtype)
    return DenseGraphs(spec, weight, features.nodes, features.edges)


def _energy(seen: Judgement, aims: Goal, each: int) -> Tensor:
    share = torch.tensor(FOLLOW, dtype=seen.cost.dtype, device=seen.cost.device)
    share = share.repeat(-(-each // len(FOLLOW)), 1)[:each].repeat(len(seen.cost) // each, 1)
    unlikely = -seen.probability.clamp_min(1e-38).log()
    unlike = 1 - seen.similarity
    follow_probability = share[:, 0] if aims.mean_embedding is not None else torch.ones_like(unlike)
    return (
        PROBABILITY_SCALE * follow_probability * unlikely.log1p()
        + SIMILARITY_SCALE * share[:, 1] * unlike
        + STRUCTURE_SCALE * seen.structure
        + EDGE_SCALE * seen.edges
    )


def _pick(possible: Tensor, chance: Tensor) -> Tensor:
    """Pick one possible move of each graph, all equally likely; -1 where there is none."""
    count = possible.sum(dim=1)
    which = (chance * count).floor().clamp_max(count - 1)
    place = (possible.cumsum(dim=1) > which.unsqueeze(1)).int().argmax(dim=1)
    return torch.where(count > 0, place, -1)


def _best_of_each(graphs: DenseGraphs, cost: Tensor, each: int) -> tuple[DenseGraphs, Tensor]:
    lowest, place = cost.view(-1, each).min(dim=1)
    first = torch.arange(len(lowest), device=cost.device) * each
    return graphs[first + place], lowest
