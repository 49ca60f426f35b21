"""Local search on discrete graphs: change one thing, keep what is best, repeat.

The gradient search finds the neighbourhood of a good graph; the last steps are discrete ones. A
gradient at the discrete graph guesses what each move would change, the most promising are evaluated
for real, all restarts in one batch, and the best are made, several at once where that is better
still.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.arguments import check_settings
from gnninterpreter.batches import repeat, with_varied_absent_nodes
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.recording import fixed_shapes
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.repeating import Tell, finished, put, steps_unseen
from gnninterpreter.search.state import State

PROMISING = 48
AT_RANDOM = 16
PROGRESS = 1e-4
JOINT = (2, 4, 8)
ATTEMPTS = 3
# Weight of absent edges where slopes are taken: attention takes logarithms of weights, and what
# stands for that of 0 has no slope.
GLIMPSE = 1e-3


@dataclass(frozen=True)
class LocalSearch:
    """Improve the most probable graph of each restart until no move that is tried helps."""

    steps: int = 100
    name: str = "local search"

    searches: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self, steps=1)

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Improve the graphs, and bring the distributions along."""

        def tell(step: int, graphs: DenseGraphs) -> bool:
            return monitor.graphs(self.name, step, self.steps, graphs)

        graphs = improved(problem, state.graphs, streams, self.steps, tell)
        return state.at(graphs, problem.evaluate(graphs))


def improved(
    problem: Problem, graphs: DenseGraphs, streams: Streams, steps: int, tell: Tell | None = None
) -> DenseGraphs:
    """Improve R discrete graphs, each on its own; ``tell`` may end it before each step."""
    work = Improving(problem, graphs, streams)
    return finished(work, steps, steps_unseen(graphs.weight.device), tell)


class Improving:
    """Restarts on their way, one graph and one stream for each."""

    each = PROMISING + AT_RANDOM

    def __init__(self, problem: Problem, graphs: DenseGraphs, streams: Streams) -> None:
        self.problem, self.streams = problem, streams
        device = graphs.weight.device
        self.space = MoveSpace(graphs.spec, graphs.num_candidates, device)
        self.joint = torch.tensor(JOINT, device=device)
        self.best = repeat(with_varied_absent_nodes(graphs), 1)
        with fixed_shapes(on=device):
            self.cost = problem.cost(graphs).clone()
        self.fails = torch.zeros(len(graphs), dtype=torch.long, device=device)
        self.number = torch.zeros((), dtype=torch.long, device=device)

    def going(self) -> Tensor:
        """A restart gives up after a few draws of other moves have not helped either."""
        return self.fails < ATTEMPTS

    def select(self, keep: Tensor) -> Improving:
        """Some of the restarts, as far on as they are."""
        other = copy(self)
        other.problem = self.problem.select(keep)
        other.best, other.streams = self.best[keep], self.streams.select(keep)
        other.cost, other.fails = self.cost[keep], self.fails[keep]
        other.number = self.number.clone()
        return other

    def step(self) -> None:
        """Make the best change of each restart that still looks for one."""
        going, streams = self.going(), self.streams.fork(self.number)
        found, found_cost = self._best_change(streams)
        better = (found_cost < self.cost - PROGRESS) & going
        put(self.best, with_varied_absent_nodes(found.where(better, self.best)))
        self.cost.copy_(torch.where(better, found_cost, self.cost))
        self.fails.copy_(torch.where(better, 0, self.fails + going))
        self.number.add_(1)

    def _best_change(self, streams: Streams) -> tuple[DenseGraphs, Tensor]:
        """The best change of each graph of those tried, one move or several together; its cost."""
        graphs, cost, moves = self.best, self.cost, self._promising(streams)
        owners = torch.arange(len(graphs), device=cost.device)
        proposals = self.space.apply(repeat(graphs, moves.size(1)), moves.flatten())
        found = self.problem.cost(proposals)
        found = torch.where(moves < 0, torch.inf, found.view(moves.shape))
        ranked, order = found.sort(dim=1)
        moves = moves.gather(1, order)
        best = self.space.apply(graphs, moves[:, 0])
        helps = torch.where(ranked < cost.unsqueeze(1) - PROGRESS, moves, -1)
        together = self._together(helps)
        lowest, which = self.problem.cost(together).view(-1, len(JOINT)).min(dim=1)
        better = lowest < ranked[:, 0] - PROGRESS
        best = together[owners * len(JOINT) + which].where(better, best)
        return best, torch.where(better, lowest, ranked[:, 0])

    def _together(self, moves: Tensor) -> DenseGraphs:
        """Each graph with the first 2, 4 and 8 of its moves made, beside each other."""
        together = repeat(self.best, len(JOINT))
        count = self.joint.repeat(len(self.best))
        for number in range(min(max(JOINT), moves.size(1))):
            move = moves[:, number].repeat_interleave(len(JOINT))
            together = self.space.apply(together, torch.where(count > number, move, -1))
        return together

    def _promising(self, streams: Streams) -> Tensor:
        """Moves worth a try: the best by first-order guess, some at random, [R, k]; -1 is none."""
        space, dtype = self.space, self.best.weight.dtype
        chance = streams.uniform(space.total, dtype=dtype)
        possible = space.possible(self.best)
        guess = self._predicted()

        def least(ranking: Tensor, count: int) -> tuple[Tensor, Tensor]:
            values, moves = ranking.topk(min(count, space.total), dim=1, largest=False)
            return torch.where(torch.isfinite(values), moves, -1), moves

        if guess is None:
            return least(torch.where(possible, chance, torch.inf), PROMISING + AT_RANDOM)[0]
        moves, best = least(torch.where(possible, guess, torch.inf), PROMISING)
        # Not one of them twice: made twice together, a flip is no change.
        chance = torch.where(possible.scatter(1, best, False), chance, torch.inf)
        return torch.cat([moves, least(chance, AT_RANDOM)[0]], dim=1)

    def _predicted(self) -> Tensor | None:
        """First-order guess of moves' changes in cost; None where the model cannot be relaxed."""
        graphs = self.best
        if self.problem.relaxed is None:
            return None
        with torch.enable_grad():
            weight = graphs.weight.clamp_min(GLIMPSE)
            weight.diagonal(dim1=1, dim2=2).zero_()
            weight.requires_grad_()
            nodes = graphs.nodes.clone().requires_grad_()
            edges = None if graphs.edges is None else graphs.edges.clone().requires_grad_()
            soft = self.problem.slope(DenseGraphs(graphs.spec, weight, nodes, edges))
            inputs = [weight, nodes] if edges is None else [weight, nodes, edges]
            gradients = torch.autograd.grad(soft.sum(), inputs, allow_unused=True)
        filled = [
            torch.zeros_like(x) if g is None else g.nan_to_num(0.0, 0.0, 0.0)
            for x, g in zip(inputs, gradients, strict=True)
        ]
        return self.space.predicted(graphs, *filled)
