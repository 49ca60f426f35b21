"""Settling: as much certainty as the class probability needs, and no more.

The search ends with a good graph and a distribution around it that may still be open in places
where opening costs probability. The logits are moved onto the graph's side and scaled by the
smallest factor that brings the mean class probability over samples to the wanted level.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams, from_graphs
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Goal
from gnninterpreter.optim.batches import compact
from gnninterpreter.optim.judge import Judge
from gnninterpreter.spec import Categorical

__all__ = ["centred", "settle"]

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0)
LEAST = 1.0
# Means are compared with a level this much above the wanted one, since they are estimates.
MARGIN = 0.006


def settle(
    learned: GraphDistribution,
    graphs: DenseGraphs,
    goal: Goal,
    judge: Judge,
    level: float,
    streams: Streams,
    samples: int = 200,
) -> tuple[GraphDistribution, Tensor]:
    """Return distributions whose modes are the given graphs, certain enough for the wanted level.

    Factors are tried from the largest down until the mean falls short. The choice is then
    confirmed on more and fresh samples, and taken back a step at a time where it does not hold: the
    smallest of several estimates that pass is too good to be true.

    Args:
        learned: What the search learned, one distribution for each graph.
        graphs: The graph that is to be the mode of each.
        goal: What each is after.
        judge: Says how probable the class is.
        level: Mean class probability that is wanted; the closest where the mode itself is below it.
        streams: Source of randomness.
        samples: Samples by which a mean is estimated.

    Returns:
        The distributions and the mean class probability over the samples of each, [R].
    """
    wanted = torch.minimum(
        torch.full_like(goal.similarity, level + MARGIN), judge(graphs, goal).probability - 1e-3
    )
    ladder = torch.tensor(FACTORS, dtype=wanted.dtype, device=wanted.device)
    chosen = torch.full_like(goal.target, len(FACTORS) - 1)
    falling = torch.ones_like(chosen, dtype=torch.bool)
    for place in reversed(range(len(FACTORS) - 1)):
        candidate = centred(learned, graphs, ladder[place].expand_as(wanted))
        # One that has failed stays where it was, whether the others go on or not.
        falling = falling & (_mean_probability(candidate, goal, judge, streams, samples) >= wanted)
        chosen = torch.where(falling, place, chosen)
        if not bool(falling.any()):
            break
    # Streams of their own: how many draws came before depends on the other restarts.
    confirming = streams.fork(0)
    reached = torch.zeros_like(wanted)
    unsure = torch.ones_like(falling)
    for _ in FACTORS:
        best = centred(learned, graphs, ladder[chosen])
        mean = _mean_probability(best, goal, judge, confirming, 3 * samples)
        reached = torch.where(unsure, mean, reached)
        unsure = unsure & (mean < wanted) & (chosen < len(FACTORS) - 1)
        chosen = torch.where(unsure, chosen + 1, chosen)
        if not bool(unsure.any()):
            break
    return centred(learned, graphs, ladder[chosen]), reached


def centred(
    learned: GraphDistribution, graphs: DenseGraphs, factor: Tensor | float = 1.0
) -> GraphDistribution:
    """Distributions whose modes are the given graphs, near what was learned.

    Every logit is put on the graph's side with at least some size, times the factor of its restart.
    """
    certain = from_graphs(graphs)
    scale = torch.as_tensor(factor, dtype=learned.edge_logits.dtype).expand(learned.restarts)
    scale = scale.to(learned.edge_logits.device)
    side = certain.edge_logits.sign()
    latents = [side * (learned.edge_logits * side).clamp_min(LEAST) * scale.view(-1, 1)]
    blocks = [*learned.spec.nodes, *learned.spec.edges]
    for block, old, new in zip(blocks, learned.latents()[1:], certain.latents()[1:], strict=True):
        if isinstance(block, Categorical):
            chosen = new > 0
            ahead = old.masked_fill(chosen, -torch.inf).amax(-1, keepdim=True)
            if block.size > 1:
                old = torch.where(chosen, torch.maximum(old, ahead + LEAST), old)
            latents.append(old * scale.view(-1, 1, 1))
        else:
            latents.append(new)
    return learned.with_latents(latents)


def _mean_probability(
    distribution: GraphDistribution, goal: Goal, judge: Judge, streams: Streams, samples: int
) -> Tensor:
    graphs = compact(distribution.discrete(samples, streams))
    owners = torch.arange(distribution.restarts, device=goal.target.device)
    owners = owners.repeat_interleave(samples)
    return judge(graphs, goal.select(owners)).probability.view(-1, samples).mean(dim=1)
