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
from gnninterpreter.optim.judge import Judge
from gnninterpreter.optim.batches import compact
from gnninterpreter.spec import Categorical

__all__ = ["centred", "settle"]

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0)
LEAST = 1.0
MARGIN = 0.003


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
    best = centred(learned, graphs, FACTORS[-1])
    reached = _mean_probability(best, goal, judge, streams, samples)
    enough = torch.ones_like(wanted, dtype=torch.bool)
    for factor in reversed(FACTORS[:-1]):
        candidate = centred(learned, graphs, factor)
        mean = _mean_probability(candidate, goal, judge, streams, samples)
        # One that has failed stays where it was, whether the others go on or not.
        enough = enough & (mean >= wanted)
        if not bool(enough.any()):
            break
        best = best.with_latents(
            [
                torch.where(enough.view((-1,) + (1,) * (new.dim() - 1)), new, old)
                for new, old in zip(candidate.latents(), best.latents(), strict=True)
            ]
        )
        reached = torch.where(enough, mean, reached)
    return best, reached


def centred(
    learned: GraphDistribution, graphs: DenseGraphs, factor: float = 1.0
) -> GraphDistribution:
    """Distributions whose modes are the given graphs, near what was learned.

    Every logit is put on the graph's side with at least some size, times a factor.
    """
    certain = from_graphs(graphs)
    latents = [_towards(learned.edge_logits, certain.edge_logits.sign(), factor)]
    blocks = [*learned.spec.nodes, *learned.spec.edges]
    for block, old, new in zip(blocks, learned.latents()[1:], certain.latents()[1:], strict=True):
        if isinstance(block, Categorical):
            chosen = new > 0
            ahead = old.masked_fill(chosen, -torch.inf).amax(-1, keepdim=True)
            if block.size > 1:
                old = torch.where(chosen, torch.maximum(old, ahead + LEAST), old)
            latents.append(old * factor)
        else:
            latents.append(new)
    return learned.with_latents(latents)


def _towards(logits: Tensor, side: Tensor, factor: float) -> Tensor:
    return side * (logits * side).clamp_min(LEAST) * factor


def _mean_probability(
    distribution: GraphDistribution, goal: Goal, judge: Judge, streams: Streams, samples: int
) -> Tensor:
    graphs = compact(distribution.discrete(samples, streams))
    owners = torch.arange(distribution.restarts, device=goal.target.device)
    owners = owners.repeat_interleave(samples)
    return judge(graphs, goal.select(owners)).probability.view(-1, samples).mean(dim=1)
