"""Two ways to a gradient: through the relaxed model, or around a model that cannot be relaxed.

Both return, for each restart, the loss and its gradient in the latents; the search does not know
which one it uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import Scores
from gnninterpreter.objective import Iterate
from gnninterpreter.search.problem import Problem

# Numbers in the edges of all samples that a CPU goes through at once: of more, most of the time is
# spent waiting for memory.
CACHED = 2**20


@dataclass(frozen=True)
class Step:
    """Losses of one iteration: their sum for each restart [R], and each term's weighted part."""

    loss: Tensor
    terms: dict[str, Tensor]
    gradients: list[Tensor]

    @classmethod
    def cat(cls, steps: Sequence[Step]) -> Step:
        """Join the losses of some restarts and of others."""
        return cls(
            torch.cat([step.loss for step in steps]),
            {name: torch.cat([step.terms[name] for step in steps]) for name in steps[0].terms},
            [torch.cat(parts) for parts in zip(*(s.gradients for s in steps), strict=True)],
        )


@dataclass(frozen=True)
class Moment:
    """Where a gradient is taken: iteration, of how many, with how many samples, how soft."""

    iteration: int
    iterations: int
    samples: int
    temperature: float


def gradient_of(problem: Problem) -> RelaxedGradient | ScoreFunctionGradient:
    """The gradient that the model allows."""
    return (ScoreFunctionGradient if problem.relaxed is None else RelaxedGradient)(problem)


@dataclass(frozen=True)
class RelaxedGradient:
    """The gradient of the relaxed objective (equation 6), by back-propagation through the model."""

    problem: Problem  # of whose relaxed model the caller keeps a session open

    name: ClassVar[str] = "relaxed"

    def __call__(self, distribution: GraphDistribution, moment: Moment, streams: Streams) -> Step:
        """Return losses and gradients at one iteration."""
        edges, nodes = 1 + distribution.spec.edge_width, distribution.num_candidates
        some = max(1, CACHED // (moment.samples * nodes**2 * edges))
        if distribution.edge_logits.device.type != "cpu" or distribution.restarts <= some:
            return self._step(distribution, moment, streams)
        steps = []
        for rows in torch.split(torch.arange(distribution.restarts), some):
            own, some_of = streams.select(rows), RelaxedGradient(self.problem.select(rows))
            steps.append(some_of._step(distribution.select(rows), moment, own))
        streams.position = own.position
        return Step.cat(steps)

    def _step(self, distribution: GraphDistribution, moment: Moment, streams: Streams) -> Step:
        assert self.problem.relaxed is not None
        latents = [latent.detach().requires_grad_() for latent in distribution.latents()]
        current = distribution.with_latents(latents)
        graphs = current.relaxed(moment.samples, moment.temperature, streams)
        losses = _losses(self.problem, current, graphs, self.problem.soft_scores(graphs), moment)
        means = {
            name: value.mean(1) if value.dim() == 2 else value for name, value in losses.items()
        }
        loss = torch.stack(list(means.values())).sum(0)
        return Step(
            loss.detach(),
            {name: value.detach() for name, value in means.items()},
            _gradients(loss, latents),
        )


@dataclass(frozen=True)
class ScoreFunctionGradient:
    r"""The score-function gradient on discrete samples, for models that cannot be relaxed.

    :math:`\nabla E[f] = E[(f - b) \nabla \log P(G)]`, with the mean of the other samples as the
    baseline b of each. Right for any model whatever, and noisier: ``least`` samples are drawn, or
    more if more are asked for. Divided by the spread of the costs, so that a step does not depend
    on their scale: unbiased up to that factor, and to order 1/K for its being estimated from the
    same samples. Continuous features vary by the ``jitter`` on their latents.
    """

    problem: Problem
    least: int = 60
    jitter: float = 0.5

    name: ClassVar[str] = "score-function"

    def __call__(self, distribution: GraphDistribution, moment: Moment, streams: Streams) -> Step:
        """Return losses and gradients at one iteration."""
        latents = [latent.detach().requires_grad_() for latent in distribution.latents()]
        current = distribution.with_latents(latents)
        samples = max(moment.samples, self.least)
        graphs = current.discrete(samples, streams, self.jitter)
        scores = self.problem.classifier.score(graphs)
        losses = _losses(self.problem, current, graphs, scores, moment)
        of_samples = [value for value in losses.values() if value.dim() == 2]
        of_distribution = [value for value in losses.values() if value.dim() == 1]
        cost = _without_nan(torch.stack(of_samples).sum(0).detach())
        others = (cost.sum(1, keepdim=True) - cost) / max(samples - 1, 1)
        # Scaled by the spread, so that the step does not depend on the scale of the scores.
        advantage = (cost - others) / (cost.std(1, keepdim=True) + 1e-6)
        surrogate = (advantage * current.log_probability(graphs, self.jitter)).mean(1)
        if of_distribution:
            surrogate = surrogate + torch.stack(of_distribution).sum(0)
        means = {
            name: _without_nan(value.detach()).mean(1) if value.dim() == 2 else value.detach()
            for name, value in losses.items()
        }
        return Step(torch.stack(list(means.values())).sum(0), means, _gradients(surrogate, latents))


def _losses(
    problem: Problem,
    distribution: GraphDistribution,
    graphs: DenseGraphs,
    scores: Scores,
    moment: Moment,
) -> dict[str, Tensor]:
    shape = (distribution.restarts, len(graphs) // distribution.restarts, -1)
    parts = Scores(scores.logits.view(shape), scores.embedding.view(shape), scores.task)
    iterate = Iterate(distribution, graphs, parts, problem.aim)
    return problem.objective.losses(iterate, moment.iteration, moment.iterations)


def _gradients(loss: Tensor, latents: list[Tensor]) -> list[Tensor]:
    found = torch.autograd.grad(loss.sum(), latents, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(latents, found, strict=True)]


def _without_nan(cost: Tensor) -> Tensor:
    """Give samples without a score (empty graphs) the worst cost of their restart and some more."""
    worst = cost.nan_to_num(nan=-torch.inf).amax(dim=1, keepdim=True)
    worst = torch.where(torch.isfinite(worst), worst, torch.zeros_like(worst))
    return torch.where(torch.isnan(cost), worst + 1.0, cost)
