"""The gradient search (paper, section 4): one loop for all restarts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.arguments import check_positive, check_settings, one_of
from gnninterpreter.distribution import Streams
from gnninterpreter.equality import beside
from gnninterpreter.objective.schedules import Constant, Schedule
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.gradient import Moment, Step, gradient_of
from gnninterpreter.search.problem import Evaluation, Problem, gained
from gnninterpreter.search.state import History, Reason, State

# Samples by which the mean score of a distribution is told at each check.
SAMPLES = 32
# What one percent of mean score counts for beside the cost of the most probable graph.
MEAN_WEIGHT = 100.0


@dataclass(frozen=True)
class Ascent:
    """Gradient ascent on the latents of all restarts at once.

    Each restart ends with a reason of its own, and what becomes of one never depends on the others.
    One whose loss or gradient is not finite ends there.

    Args:
        iterations: Iterations at the most.
        samples: Concrete samples K of each restart in each iteration.
        temperature: Temperature tau of the Concrete distribution.
        optimizer: ``"adam"`` or ``"sgd"``.
        learning_rate: Its step size.
        check_every: Iterations between two checks on discrete graphs.
        patience: Checks without any progress after which a restart ends; None waits to the end.
        settled: The same of restarts around a graph that an earlier phase has found, where less
            than a hundredth of what they lack is no progress. From a distribution at random the
            gradient often gets somewhere after a long time; around a graph that was found at once
            or not at all.
        keep: ``"best"`` keeps the best distribution that a check has seen, by the mean score over
            its samples first, then by its most probable graph; ``"last"`` the last one, as the
            paper does.
        spares: Whether restarts that already have a graph which leaves nothing to be desired are
            left as they are.
    """

    iterations: int = 120
    samples: int = 10
    temperature: Schedule = field(default_factory=lambda: Constant(0.2))
    optimizer: str = "adam"
    learning_rate: float = 0.1
    check_every: int = 20
    patience: int | None = None
    settled: int | None = None
    keep: str = "best"
    spares: bool = False
    name: str = "gradient"

    searches: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self, iterations=1, samples=1, check_every=1)
        for name in ("patience", "settled"):
            if getattr(self, name) is not None:
                check_settings(self, **{name: 1})
        check_positive(self.learning_rate, "learning_rate")
        one_of("optimizer", self.optimizer, ("adam", "sgd"))
        one_of("keep", self.keep, ("best", "last"))

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Descend the loss."""
        gradient, draws = gradient_of(problem), streams.fork(1)
        run = _Run(self, problem, state)
        run.rank = run.ranked(state.evaluation, draws.fork(self.iterations))[0]
        for iteration in range(self.iterations):
            temperature = self.temperature(iteration, self.iterations)
            moment = Moment(iteration, self.iterations, self.samples, temperature)
            run.step(gradient(run.current, moment, streams))
            if (iteration + 1) % self.check_every and iteration + 1 < self.iterations:
                continue
            seen = run.check(draws.fork(iteration))
            stop = monitor.distributions(
                self.name, iteration + 1, self.iterations, run.current, seen
            )
            # The only places where the loop waits for the device are these checks.
            if stop or not run.going:
                break
        return run.finish(monitor.stopped)


class _Run:
    """R restarts on their way."""

    def __init__(self, settings: Ascent, problem: Problem, state: State) -> None:
        self.settings, self.problem, self.state = settings, problem, state
        self.current = state.distribution.detach()
        self.parameters = [latent.requires_grad_(False) for latent in self.current.latents()]
        kind = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
        self.optimizer = kind(self.parameters, lr=settings.learning_rate)
        count, device = self.current.restarts, self.parameters[0].device
        self.alive = torch.ones(count, dtype=torch.bool, device=device)
        self.open = self.alive.clone()
        self.converged = ~self.alive
        self.ended_at = torch.zeros(count, dtype=torch.long, device=device)
        self.since_progress = torch.zeros_like(self.ended_at)
        self.since_gain = torch.zeros_like(self.ended_at)
        self.best, self.evaluation = self.current.detach(), state.evaluation
        self.rank = torch.full_like(state.evaluation.cost, torch.inf)
        self.history = History()
        self.iteration = 0
        self.terms: dict[str, Tensor] = {}

    @property
    def going(self) -> bool:
        """Whether any restart is still on its way."""
        return bool((self.open & self.alive).any())

    def step(self, step: Step) -> None:
        """Make one step of the optimiser on restarts whose gradient is finite."""
        finite = torch.isfinite(step.loss)
        for g in step.gradients:
            finite = finite & torch.isfinite(g).flatten(1).all(dim=1)
        self.iteration += 1
        # One that has ended well stays so, whatever it comes to while others go on.
        fell = self.open & self.alive & ~finite
        self.alive = self.alive & ~fell
        self.ended_at = torch.where(fell, self.iteration, self.ended_at)
        moving = self.alive & finite
        if self.settings.keep == "last":
            moving = moving & self.open
        for parameter, g in zip(self.parameters, step.gradients, strict=True):
            parameter.grad = torch.where(beside(moving, g), g, torch.zeros_like(g))
        before = [p.clone() for p in self.parameters] if self.settings.keep == "last" else None
        self.optimizer.step()
        if before is not None:
            # Momentum would move restarts that have ended, and their last iterate is the result.
            for parameter, old in zip(self.parameters, before, strict=True):
                parameter.copy_(torch.where(beside(moving, old), parameter, old))
        self.terms = step.terms

    def ranked(self, seen: Evaluation, streams: Streams) -> tuple[Tensor, Tensor]:
        """How good the distributions are, by their samples and their modes; and the mean score."""
        mean = self.problem.mean_score(self.current, SAMPLES, streams)
        return seen.cost + MEAN_WEIGHT * (self.problem.aim.certain - mean).clamp_min(0), mean

    def check(self, streams: Streams) -> Evaluation:
        """Turn to discrete graphs: keep what is best, and see who has arrived."""
        problem, going = self.problem, self.open & self.alive
        seen = problem.evaluate(self.current.mode())
        rank, mean = self.ranked(seen, streams)
        better = (rank < self.rank - 1e-6) & going
        if self.settings.keep == "last":
            better = going
        self.best = self.current.where(better, self.best)
        self.evaluation = seen.where(better, self.evaluation)
        self.since_progress = torch.where(rank < self.rank - 1e-6, 0, self.since_progress + 1)
        self.since_gain = torch.where(gained(rank, self.rank), 0, self.since_gain + 1)
        self.rank = torch.minimum(rank, self.rank)
        self._record(seen)
        done = (seen.score >= problem.aim.certain) & seen.feasible
        done = done & (mean >= problem.aim.certain)
        done = done & (self.current.expected_edges <= problem.aim.max_edges)
        ended = done
        if self.settings.patience is not None:
            ended = ended | (self.since_progress >= self.settings.patience)
        if self.settings.settled is not None:
            ended = ended | (self.state.found & (self.since_gain >= self.settings.settled))
        newly = going & ended
        self.converged = self.converged | (newly & done)
        self.ended_at = torch.where(newly, self.iteration, self.ended_at)
        self.open = self.open & ~newly
        return seen

    def finish(self, stopped: bool) -> State:
        """The state after the search."""
        unfinished = self.open & self.alive
        ended_at = torch.where(unfinished, self.iteration, self.ended_at)
        reasons = [
            _reason(bool(alive), bool(arrived), bool(going), stopped)
            for alive, arrived, going in zip(self.alive, self.converged, unfinished, strict=True)
        ]
        return self.state.with_(
            distribution=self.best,
            graphs=self.best.mode(),
            evaluation=self.evaluation,
            reasons=tuple(reasons),
            iterations=tuple(ended_at.tolist()),
            history=self.history,
        )

    def _record(self, seen: Evaluation) -> None:
        self.history.iteration.append(self.iteration)
        self.history.probability.append(seen.score)
        self.history.similarity.append(seen.similarity)
        self.history.expected_edges.append(self.current.expected_edges)
        self.history.terms.append(self.terms)


def _reason(alive: bool, converged: bool, unfinished: bool, stopped: bool) -> Reason:
    if not alive:
        return Reason.NON_FINITE
    if converged:
        return Reason.CONVERGED
    if unfinished:
        return Reason.STOPPED if stopped else Reason.RAN_OUT
    return Reason.PLATEAU
