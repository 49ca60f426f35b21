"""The gradient search: one loop for all restarts, best state kept by discrete score."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.objective import Goal
from gnninterpreter.search.gradient import Gradient
from gnninterpreter.search.judge import Judge, Judgement
from gnninterpreter.search.recipe import Recipe
from gnninterpreter.search.watch import Callback, Look

__all__ = ["History", "Reason", "SearchState", "gradient_search"]


class Reason(str, Enum):
    """Why a restart ended."""

    CONVERGED = "converged"
    PLATEAU = "plateau"
    BUDGET_NOT_MET = "budget not met"
    NON_FINITE = "non-finite"
    STOPPED = "stopped"

    def __str__(self) -> str:
        return self.value


@dataclass
class History:
    """What was seen along the way, one entry for each look; tensors have shape [R]."""

    iteration: list[int] = field(default_factory=list)
    probability: list[Tensor] = field(default_factory=list)
    expected_edges: list[Tensor] = field(default_factory=list)
    similarity: list[Tensor] = field(default_factory=list)
    terms: list[dict[str, Tensor]] = field(default_factory=list)


@dataclass
class SearchState:
    """R restarts after the search: best distribution, how it was judged, why it ended."""

    distribution: GraphDistribution
    judgement: Judgement
    reasons: list[Reason]
    iterations: list[int]
    history: History


def gradient_search(
    start: GraphDistribution,
    goal: Goal,
    recipe: Recipe,
    gradient: Gradient,
    judge: Judge,
    streams: Streams,
    callbacks: tuple[Callback, ...] = (),
) -> SearchState:
    """Run gradient descent on R restarts at once.

    Each restart keeps the state whose most probable graph the judge liked best, and ends with a
    reason of its own: what becomes of one never depends on the others. A restart whose loss or
    gradient is not finite ends there. A callback that returns True stops the search.
    """
    current = start.detach()
    parameters = [latent.requires_grad_(False) for latent in current.latents()]
    optimizer = _optimizer(parameters, recipe)
    restarts = current.restarts
    device = parameters[0].device
    alive = torch.ones(restarts, dtype=torch.bool, device=device)
    open_ = torch.ones(restarts, dtype=torch.bool, device=device)
    ended_at = torch.full((restarts,), recipe.iterations, device=device)
    converged = torch.zeros(restarts, dtype=torch.bool, device=device)
    since_progress = torch.zeros(restarts, dtype=torch.long, device=device)
    best, judgement = current.detach(), judge(current.mode(), goal)
    history = History()
    stopped = False
    for iteration in range(recipe.iterations):
        step = gradient(current, goal, recipe, iteration, streams)
        finite = torch.isfinite(step.loss)
        for g in step.gradients:
            finite = finite & torch.isfinite(g).flatten(1).all(dim=1)
        # One that has ended well stays so, whatever it comes to while others go on.
        fell = open_ & alive & ~finite
        alive = alive & ~fell
        ended_at = torch.where(fell, iteration + 1, ended_at)
        usable = alive & finite
        for parameter, g in zip(parameters, step.gradients, strict=True):
            shape = (-1,) + (1,) * (g.dim() - 1)
            parameter.grad = torch.where(usable.view(shape), g, torch.zeros_like(g))
        optimizer.step()
        last = iteration + 1 == recipe.iterations
        if (iteration + 1) % recipe.check_every and not last:
            continue
        seen = judge(current.mode(), goal)
        better = (seen.cost < judgement.cost - 1e-6) & open_ & alive
        best, judgement = _keep(better, current, best, seen, judgement)
        since_progress = torch.where(better, 0, since_progress + 1)
        _record(history, iteration + 1, seen, current, step.terms)
        done = (seen.probability >= recipe.stop_probability) & seen.sound
        done = done & (current.expected_edges <= goal.max_edges) & _decided(current)
        newly = open_ & alive & (done | (since_progress >= recipe.patience))
        converged = converged | (newly & done)
        ended_at = torch.where(newly, iteration + 1, ended_at)
        open_ = open_ & ~newly
        look = Look(
            "search",
            iteration + 1,
            recipe.iterations,
            judgement.probability,
            judgement.edges,
            current,
        )
        answers = [callback(look) for callback in callbacks]
        stopped = any(answers)
        # The only places where the loop waits for the device are these looks.
        if stopped or not bool((open_ & alive).any()):
            break
    ended_at = torch.where(open_ & alive, iteration + 1, ended_at)
    reasons = [
        _reason(bool(a), bool(c), bool(e <= m), stopped and bool(o))
        for a, c, e, m, o in zip(
            alive, converged, judgement.edges, goal.max_edges, open_, strict=True
        )
    ]
    return SearchState(best, judgement, reasons, ended_at.tolist(), history)


def _optimizer(parameters: list[Tensor], recipe: Recipe) -> torch.optim.Optimizer:
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=recipe.learning_rate)
    return torch.optim.Adam(parameters, lr=recipe.learning_rate)


def _decided(distribution: GraphDistribution) -> Tensor:
    """Whether samples look like the mode: less than one edge or feature left open, [R]."""
    return distribution.undecided() < 1.0


def _keep(
    better: Tensor,
    current: GraphDistribution,
    best: GraphDistribution,
    seen: Judgement,
    kept: Judgement,
) -> tuple[GraphDistribution, Judgement]:
    def choose(new: Tensor, old: Tensor) -> Tensor:
        return torch.where(better.view((-1,) + (1,) * (new.dim() - 1)), new, old)

    latents = [choose(n, o) for n, o in zip(current.latents(), best.latents(), strict=True)]
    fields = {name: choose(getattr(seen, name), value) for name, value in vars(kept).items()}
    return best.with_latents(latents), Judgement(**fields)


def _record(
    history: History,
    iteration: int,
    seen: Judgement,
    current: GraphDistribution,
    terms: dict[str, Tensor],
) -> None:
    history.iteration.append(iteration)
    history.probability.append(seen.probability)
    history.similarity.append(seen.similarity)
    history.expected_edges.append(current.expected_edges)
    history.terms.append(terms)


def _reason(alive: bool, converged: bool, within_budget: bool, stopped: bool) -> Reason:
    if not alive:
        return Reason.NON_FINITE
    if converged:
        return Reason.CONVERGED
    if stopped:
        return Reason.STOPPED
    return Reason.PLATEAU if within_budget else Reason.BUDGET_NOT_MET
