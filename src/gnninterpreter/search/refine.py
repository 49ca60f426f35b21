"""Local search on discrete graphs: change one thing, keep what the judge likes best, repeat.

The gradient search finds the neighbourhood of a good graph; the last steps are discrete ones. A
gradient at the discrete graph guesses what each move would change, the most promising are judged
for real, all restarts in one batch, and the best are made, several at once where that is better
still.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Goal
from gnninterpreter.search.batches import (
    choose,
    compact,
    repeat,
    replaced,
    with_varied_absent_nodes,
)
from gnninterpreter.search.judge import SIZE_WEIGHT, Judge, Judgement
from gnninterpreter.search.moves import MoveSpace

__all__ = ["refine"]

STEPS = 100
PROMISING = 48
AT_RANDOM = 16
PROGRESS = 1e-4
JOINT = (2, 4, 8)
ATTEMPTS = 3
# Weight of absent edges where slopes are taken: attention takes logarithms of weights, and what
# stands for that of 0 has no slope.
GLIMPSE = 1e-3


def refine(
    graphs: DenseGraphs,
    goal: Goal,
    judge: Judge,
    streams: Streams,
    steps: int = STEPS,
    look: Callable[[int, DenseGraphs], bool] | None = None,
) -> tuple[DenseGraphs, Judgement]:
    """Improve R discrete graphs, each on its own, until no move that is tried helps.

    Args:
        graphs: One graph for each restart.
        goal: What each is after.
        judge: Says how good a graph is.
        streams: Source of randomness, one stream for each restart.
        steps: Most steps.
        look: Called before each step with the steps done and the graphs so far; True ends the
            search.

    Returns:
        The improved graphs, on the same candidate nodes, and their judgement.
    """
    space = MoveSpace(graphs.spec, graphs.num_candidates, graphs.weight.device)
    graphs = with_varied_absent_nodes(graphs)
    cost = judge(compact(graphs), goal).cost
    fails = torch.zeros_like(goal.target)
    for step in range(steps):
        # A restart gives up after a few draws of other moves have not helped either, whether the
        # others go on or not.
        searching = (fails < ATTEMPTS).nonzero().squeeze(1)
        if not searching.numel() or (look is not None and look(step, graphs)):
            break
        found, found_cost = _best_change(
            graphs[searching],
            cost[searching],
            goal.select(searching),
            judge,
            space,
            streams.fork(step).select(searching),
        )
        better = found_cost < cost[searching] - PROGRESS
        graphs = with_varied_absent_nodes(replaced(graphs, searching[better], found[better]))
        cost[searching[better]] = found_cost[better]
        fails[searching] = torch.where(better, 0, fails[searching] + 1)
    return graphs, judge(graphs, goal)


def _best_change(
    graphs: DenseGraphs,
    cost: Tensor,
    goal: Goal,
    judge: Judge,
    space: MoveSpace,
    streams: Streams,
) -> tuple[DenseGraphs, Tensor]:
    """The best change of each graph among those tried, one move or several together; its cost."""
    moves = _promising(graphs, goal, judge, space, streams)
    tried = moves.size(1)
    owners = torch.arange(len(graphs), device=cost.device)
    proposals = space.apply(repeat(graphs, tried), moves.flatten())
    found = _costs(proposals, owners.repeat_interleave(tried), goal, judge)
    found = torch.where(moves < 0, torch.inf, found.view(moves.shape))
    ranked, order = found.sort(dim=1)
    moves = moves.gather(1, order)
    best = space.apply(graphs, moves[:, 0])
    joint = _together(graphs, torch.where(ranked < cost.unsqueeze(1) - PROGRESS, moves, -1), space)
    judged = _costs(joint, owners.repeat_interleave(len(JOINT)), goal, judge)
    lowest, which = judged.view(-1, len(JOINT)).min(dim=1)
    better = lowest < ranked[:, 0] - PROGRESS
    best = choose(better, joint[owners * len(JOINT) + which], best)
    return best, torch.where(better, lowest, ranked[:, 0])


def _together(graphs: DenseGraphs, moves: Tensor, space: MoveSpace) -> DenseGraphs:
    """Each graph with the first 2, 4 and 8 of its moves made, beside each other."""
    together = repeat(graphs, len(JOINT))
    count = torch.tensor(JOINT, device=moves.device).repeat(len(graphs))
    for number in range(min(max(JOINT), moves.size(1))):
        move = moves[:, number].repeat_interleave(len(JOINT))
        together = space.apply(together, torch.where(count > number, move, -1))
    return together


def _promising(
    graphs: DenseGraphs, goal: Goal, judge: Judge, space: MoveSpace, streams: Streams
) -> Tensor:
    """Moves worth judging: the best by first-order guess and some at random, [R, k]; -1 is none."""
    chance = streams.uniform(space.total, dtype=graphs.weight.dtype)
    possible = space.possible(graphs)
    guess = _predicted(graphs, goal, judge, space)
    if guess is None:
        ranking = torch.where(possible, chance, torch.inf)
        count = min(PROMISING + AT_RANDOM, space.total)
        values, moves = ranking.topk(count, dim=1, largest=False)
        return torch.where(torch.isfinite(values), moves, -1)
    ranking = torch.where(possible, guess, torch.inf)
    values, best = ranking.topk(min(PROMISING, space.total), dim=1, largest=False)
    moves = torch.where(torch.isfinite(values), best, -1)
    # Not one of them twice: made twice together, a flip is no change.
    chance = torch.where(possible.scatter(1, best, False), chance, torch.inf)
    drawn, others = chance.topk(min(AT_RANDOM, space.total), dim=1, largest=False)
    return torch.cat([moves, torch.where(torch.isfinite(drawn), others, -1)], dim=1)


def _predicted(graphs: DenseGraphs, goal: Goal, judge: Judge, space: MoveSpace) -> Tensor | None:
    """First-order guess of each move's change in cost; None where the model cannot be relaxed."""
    if judge.relaxed is None:
        return None
    with torch.enable_grad():
        weight = graphs.weight.clamp_min(GLIMPSE)
        weight.diagonal(dim1=1, dim2=2).zero_()
        weight.requires_grad_()
        nodes = graphs.nodes.clone().requires_grad_()
        edges = None if graphs.edges is None else graphs.edges.clone().requires_grad_()
        soft = judge.soft_cost(DenseGraphs(graphs.spec, weight, nodes, edges), goal)
        inputs = [weight, nodes] if edges is None else [weight, nodes, edges]
        gradients = torch.autograd.grad(soft.sum(), inputs, allow_unused=True)
    filled = [
        torch.zeros_like(x) if g is None else g.nan_to_num(0.0, 0.0, 0.0)
        for x, g in zip(inputs, gradients, strict=True)
    ]
    sides = 1 if graphs.spec.directed else 2
    filled[0] = filled[0] + (SIZE_WEIGHT / sides / goal.max_edges).view(-1, 1, 1)
    return space.predicted(graphs, filled[0], filled[1], filled[2] if edges is not None else None)


def _costs(graphs: DenseGraphs, owners: Tensor, goal: Goal, judge: Judge) -> Tensor:
    return judge(compact(graphs), goal.select(owners)).cost
