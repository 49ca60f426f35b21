"""Annealing: where to begin, found by many cheap random walks over small discrete graphs.

Some classes are needles: the model says no to everything but the exact pattern, and from a random
soft graph no gradient points there. A walk that also follows the embedding does find them, since
graphs on the way look more and more like the class. Every restart has a few walkers of its own,
which differ in how far they follow certainty and how far likeness.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.arguments import check_settings
from gnninterpreter.batches import repeat, widened, with_varied_absent_nodes
from gnninterpreter.distribution import GraphDistribution, Streams, around_graphs
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.recording import fixed_shapes
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.moves import MoveSpace, picked
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.repeating import Tell, finished, put
from gnninterpreter.search.state import State
from gnninterpreter.spec import GraphSpec

# One move changes the energy by anything from 0.01 to 10. Cooled by a constant factor, a walk
# spends as much time on each order of these; by a constant difference, nearly all on the largest.
HOT, COLD = 1.0, 0.02
CHECK_EVERY = 10
# How far the walkers of a restart follow certainty and likeness, in turn.
EMPHASIS = {"certainty": (1.0, 1.0, 1.0, 0.2), "embedding similarity": (0.0, 0.5, 1.0, 1.0)}
# From this score on a graph is a better start than none.
PROMISING = 0.5


@dataclass(frozen=True)
class Anneal:
    """Random walks over small graphs; the distributions then begin around what they found."""

    walkers: int = 16
    steps: int = 200
    nodes: int = 10
    name: str = "anneal"

    searches: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self, walkers=1, steps=1, nodes=3)

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Walk, and begin around the graphs that were found; elsewhere, as before."""
        candidates = state.graphs.num_candidates
        spec, dtype = state.graphs.spec, state.graphs.weight.dtype
        start = random_walkers(spec, min(self.nodes, candidates), self.walkers, streams, dtype)
        found = walk(
            problem,
            start,
            streams,
            self.steps,
            emphasis=emphasis_of(problem, self.walkers),
            tell=lambda step, best: monitor.graphs(self.name, step, self.steps, best),
        )
        found = widened(found, candidates)
        seen = problem.evaluate(found)
        good = seen.score >= PROMISING
        warm = around_graphs(found, streams)
        return state.with_(
            distribution=warm.where(good, state.distribution),
            graphs=found.where(good, state.graphs),
            evaluation=seen.where(good, state.evaluation),
            found=state.found | good,
        )


def walk(
    problem: Problem,
    walkers: DenseGraphs,
    streams: Streams,
    steps: int,
    *,
    emphasis: Mapping[str, Tensor] | None = None,
    by_cost: bool = False,
    temperatures: tuple[float, float] = (HOT, COLD),
    tell: Tell | None = None,
) -> DenseGraphs:
    """Let the walkers of R restarts walk, and return the best graph each restart's have seen.

    A restart whose best graph leaves nothing to be desired walks no further, so that what it finds
    does not depend on the others. Its W walkers follow terms by ``emphasis``, [W] each, or the cost
    itself.
    """
    work = Walk(problem, walkers, streams, steps, emphasis, by_cost, temperatures)
    return finished(work, steps, CHECK_EVERY, tell)


class Walk:
    """Walkers of several restarts on their way; a step changes tensors in place.

    Restarts that have ``ended`` are done, too.
    """

    def __init__(
        self,
        problem: Problem,
        walkers: DenseGraphs,
        streams: Streams,
        steps: int,
        emphasis: Mapping[str, Tensor] | None = None,
        by_cost: bool = False,
        temperatures: tuple[float, float] = (HOT, COLD),
    ) -> None:
        self.problem, self.emphasis, self.by_cost = problem, emphasis, by_cost
        self.each = len(walkers) // len(streams)
        self.space = MoveSpace(walkers.spec, walkers.num_candidates, walkers.weight.device)
        self.walkers, self.streams = repeat(walkers, 1), streams.fork(0)
        self.cooling = (temperatures[1] / temperatures[0]) ** (1 / max(steps, 1))
        self.temperature = walkers.weight.new_tensor(temperatures[0])
        with fixed_shapes(on=walkers.weight.device):
            costs, self.level = self._measured(walkers)
        self.best, self.cost = _best_of_each(walkers, costs, self.each)
        # Of all restarts, also where some go on alone.
        self.ended = torch.zeros_like(self.cost, dtype=torch.bool)
        self.rows = torch.arange(len(self.cost), device=self.cost.device)

    def going(self) -> Tensor:
        """Which restarts have not what they want."""
        return (self.cost > self.problem.objective.slack) & ~self.ended[self.rows]

    def select(self, keep: Tensor) -> Walk:
        """Some of the restarts, as far on as they are."""
        other, members = copy(self), keep.repeat_interleave(self.each)
        other.problem, other.rows = self.problem.select(keep), self.rows[keep]
        other.walkers, other.level = self.walkers[members], self.level[members]
        other.streams, other.best = self.streams.select(keep), self.best[keep]
        other.cost, other.temperature = self.cost[keep], self.temperature.clone()
        return other

    def step(self) -> None:
        """Each walker tries one move; those of a restart that has what it wants stand still."""
        self.streams.advance()
        going = self.going()
        walkers = with_varied_absent_nodes(self.walkers)
        chance = self.streams.uniform(2, self.each, dtype=walkers.weight.dtype)
        move, there = picked(self.space.possible(walkers), chance[:, 0].flatten())
        proposals = self.space.apply(walkers, torch.where(there, move, -1))
        costs, new = self._measured(proposals)
        gain = ((self.level - new) / self.temperature).clamp_max(0).exp()
        accept = (chance[:, 1].flatten() < gain) & going.repeat_interleave(self.each)
        put(self.walkers, proposals.where(accept, walkers))
        self.level.copy_(torch.where(accept, new, self.level))
        found, found_cost = _best_of_each(proposals, costs, self.each)
        better = (found_cost < self.cost) & going
        put(self.best, found.where(better, self.best))
        self.cost.copy_(torch.where(better, found_cost, self.cost))
        self.temperature.mul_(self.cooling)

    def _measured(self, graphs: DenseGraphs) -> tuple[Tensor, Tensor]:
        """Cost of graphs, and what walkers seek to lower."""
        found = self.problem.propose(graphs, new=True)
        cost = self.problem.objective.cost(found)
        if self.by_cost:
            return cost, cost.clone()
        restarts = len(graphs) // self.each
        factors = {name: part.repeat(restarts) for name, part in (self.emphasis or {}).items()}
        return cost, self.problem.objective.energy(found, factors)


def emphasis_of(problem: Problem, walkers: int) -> dict[str, Tensor] | None:
    """How far each walker follows which term; all follow certainty where there is no likeness."""
    if problem.aim.mean_embedding is None:
        return None
    device, dtype = problem.classifier.device, problem.classifier.dtype
    return {
        name: torch.tensor(shares, dtype=dtype, device=device).repeat(-(-walkers // len(shares)))[
            :walkers
        ]
        for name, shares in EMPHASIS.items()
    }


def random_walkers(
    spec: GraphSpec, num_candidates: int, each: int, streams: Streams, dtype: torch.dtype
) -> DenseGraphs:
    """Discrete graphs to begin with: any size, any density, any features; R * ``each`` of them."""
    pairs = GraphDistribution.num_pairs(spec, num_candidates)
    restarts, device = len(streams), streams.keys.device
    logits = torch.zeros(restarts, pairs, dtype=dtype, device=device)
    nodes, edges = (
        tuple(logits.new_zeros(restarts, rows, w) for w in GraphDistribution.latent_widths(blocks))
        for rows, blocks in ((num_candidates, spec.nodes), (pairs, spec.edges))
    )
    blank = GraphDistribution(spec, num_candidates, logits, nodes, edges)
    features = blank.discrete(each, streams, jitter=1.5)
    size, density = streams.uniform(2, each, dtype=dtype).flatten(2).unbind(1)
    size = 3 + (size * (num_candidates - 2)).floor().flatten()
    density = 0.2 + 0.8 * density.flatten()
    inside = torch.arange(num_candidates, device=device) < size.unsqueeze(1)
    allowed = inside.unsqueeze(1) & inside.unsqueeze(2)
    chance = blank.to_dense(streams.uniform(each, pairs, dtype=dtype).flatten(0, 1))
    weight = (allowed & (chance > 0) & (chance < density.view(-1, 1, 1))).to(dtype)
    return DenseGraphs(spec, weight, features.nodes, features.edges)


def _best_of_each(graphs: DenseGraphs, cost: Tensor, each: int) -> tuple[DenseGraphs, Tensor]:
    lowest, place = cost.view(-1, each).min(dim=1)
    first = torch.arange(len(lowest), device=cost.device) * each
    return graphs[first + place], lowest
