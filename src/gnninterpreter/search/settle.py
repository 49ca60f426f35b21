"""Settling: closed where a change would cost the class, open where the model does not care.

The search ends with a good graph and a distribution around it. Every single change of that graph is
judged, and each edge and category becomes as certain as the harm of changing it asks for, but not
less certain than the search has learned. Samples then show whether changes that are harmless one by
one are harmless together; where they are not, all logits grow by steps until they are. A few
samples refuse quickly, and only what they let pass is tried with many: one bad sample in a thousand
is no rarity among eight restarts, each tried at several steps.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams, from_graphs
from gnninterpreter.graphs import DenseGraphs, dense_width
from gnninterpreter.objective import Goal
from gnninterpreter.search.batches import compact
from gnninterpreter.search.judge import Judge
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.spec import Categorical

__all__ = ["centred", "harms", "settle"]

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0)
# Looks that there are at the most: every step of the ladder, quickly and thoroughly.
ATTEMPTS = 2 * len(FACTORS)
LEAST = 1.0
# Probability that all changes together may cost.
TOLERANCE = 1e-4
CHUNK = 2048
# Samples of the quick look and of the thorough one, at the most; and how many pairs of nodes they
# may have together, which bounds the time for large graphs.
QUICK, THOROUGH = (750, 150_000), (3000, 400_000)
FEWEST = 300


def settle(
    learned: GraphDistribution,
    graphs: DenseGraphs,
    goal: Goal,
    judge: Judge,
    streams: Streams,
    samples: int | None = None,
    look: Callable[[int, GraphDistribution], bool] | None = None,
) -> tuple[GraphDistribution, Tensor]:
    """Return distributions whose modes are the given graphs and whose samples are as good as they.

    Args:
        learned: What the search learned, one distribution for each graph.
        graphs: The graph that is to be the mode of each.
        goal: What each is after.
        judge: Says how probable the class is.
        streams: Source of randomness.
        samples: Samples by which a mean is estimated; a few and then many when omitted, fewer for
            larger graphs.
        look: Called with the number of each attempt and what it tries; True ends them.

    Returns:
        The distributions and the mean class probability over the samples of each, [R].
    """
    space = MoveSpace(graphs.spec, graphs.num_candidates, graphs.weight.device)
    limits = _least_logits(harms(graphs, goal, judge, space), space)
    wanted = judge(graphs, goal).probability - 2 * TOLERANCE
    ladder = torch.tensor(FACTORS, dtype=wanted.dtype, device=wanted.device)
    place = torch.zeros_like(goal.target)
    reached = torch.zeros_like(wanted)
    for stage, count in enumerate(_sample_counts(graphs, samples)):
        unsure = torch.arange(len(graphs), device=wanted.device)
        for attempt in range(len(FACTORS)):
            settled = _closed(centred(learned, graphs, ladder[place]), graphs, limits, space)
            number = stage * len(FACTORS) + attempt
            if look is not None and look(number, settled):
                return settled, reached
            # Only those in doubt are drawn from, by streams that do not depend on who else is.
            mean = _mean_probability(
                settled.select(unsure),
                goal.select(unsure),
                judge,
                streams.fork(number).select(unsure),
                count,
            )
            reached[unsure] = mean
            short = (mean < wanted[unsure]) & (place[unsure] < len(FACTORS) - 1)
            unsure = unsure[short]
            place[unsure] += 1
            if not unsure.numel():
                break
    return _closed(centred(learned, graphs, ladder[place]), graphs, limits, space), reached


def _sample_counts(graphs: DenseGraphs, samples: int | None) -> list[int]:
    if samples is not None:
        return [samples]
    pairs = int(graphs.num_nodes.max()) ** 2
    return [min(most, max(FEWEST, budget // pairs)) for most, budget in (QUICK, THOROUGH)]


def harms(graphs: DenseGraphs, goal: Goal, judge: Judge, space: MoveSpace) -> Tensor:
    """What every single move would cost in class probability, [R, moves].

    A move that leaves the graph in pieces or over its limits costs everything, and so does one that
    means nothing, such as an edge between two absent nodes.
    """
    possible = space.possible(graphs)
    before = judge(graphs, goal).probability
    cost = torch.ones_like(possible, dtype=before.dtype)
    owners, moves = possible.nonzero(as_tuple=True)
    for start in range(0, owners.numel(), CHUNK):
        some = slice(start, start + CHUNK)
        changed = compact(space.apply(graphs[owners[some]], moves[some]))
        seen = judge(changed, goal.select(owners[some]))
        lost = (before[owners[some]] - seen.probability).clamp_min(0)
        cost[owners[some], moves[some]] = torch.where(seen.sound, lost, 1.0)
    return cost


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


def _least_logits(harm: Tensor, space: MoveSpace) -> Tensor:
    """How large the logit against each move must be for all to cost no more than allowed."""
    each = TOLERANCE / max(space.total, 1)
    chance = 0.5 * each / (harm + each)
    return ((1 - chance) / chance).log()


def _closed(
    distribution: GraphDistribution, graphs: DenseGraphs, limits: Tensor, space: MoveSpace
) -> GraphDistribution:
    """The same distributions with every logit against a move at least as large as its limit."""
    flips, node_changes, edge_changes, _ = torch.split(limits, list(space.sizes), dim=1)
    side = from_graphs(graphs).edge_logits.sign()
    latents = [side * torch.maximum(distribution.edge_logits * side, flips)]
    parts = [(distribution.spec.nodes, distribution.node_logits, node_changes)]
    parts.append((distribution.spec.edges, distribution.edge_feature_logits, edge_changes))
    for blocks, logits, changes in parts:
        if not blocks:
            continue
        least = changes.view(changes.size(0), -1, dense_width(blocks))
        start = 0
        for block, values in zip(blocks, logits, strict=True):
            width = values.size(-1)
            if isinstance(block, Categorical):
                top, now = values.max(dim=-1, keepdim=True)
                here = torch.zeros_like(values, dtype=torch.bool).scatter(-1, now, True)
                bound = top - least[..., start : start + width]
                values = torch.where(here, values, torch.minimum(values, bound))
            latents.append(values)
            start += width
    return distribution.with_latents(latents)


def _mean_probability(
    distribution: GraphDistribution, goal: Goal, judge: Judge, streams: Streams, samples: int
) -> Tensor:
    graphs = distribution.discrete(samples, streams)
    owners = torch.arange(distribution.restarts, device=goal.target.device)
    owners = owners.repeat_interleave(samples)
    parts = [
        judge(compact(graphs[start : start + CHUNK]), goal.select(owners[start : start + CHUNK]))
        for start in range(0, len(graphs), CHUNK)
    ]
    return torch.cat([part.probability for part in parts]).view(-1, samples).mean(dim=1)
