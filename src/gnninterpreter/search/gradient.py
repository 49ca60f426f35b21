"""Two ways to a gradient: through the relaxed model, or around a model that cannot be relaxed.

Both return, for each restart, the loss and its gradient in the latents; the loop does not know
which one it uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import Goal, Iterate
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search.recipe import Recipe

__all__ = ["Gradient", "RelaxedGradient", "ScoreFunctionGradient", "Step"]


@dataclass(frozen=True)
class Step:
    """Losses of one iteration: their sum for each restart [R], and each term's weighted part."""

    loss: Tensor
    terms: dict[str, Tensor]
    gradients: list[Tensor]


class Gradient(Protocol):
    """A way to get from latents to losses and their gradients."""

    name: str

    def __call__(
        self,
        distribution: GraphDistribution,
        goal: Goal,
        recipe: Recipe,
        iteration: int,
        streams: Streams,
    ) -> Step:
        """Return losses and gradients at one iteration."""


class RelaxedGradient:
    """The gradient of the relaxed objective (equation 6), by back-propagation through the model."""

    name = "relaxed"

    def __init__(self, relaxed: RelaxedModel) -> None:
        """Use a relaxed model, whose session the caller keeps open."""
        self.relaxed = relaxed

    def __call__(
        self,
        distribution: GraphDistribution,
        goal: Goal,
        recipe: Recipe,
        iteration: int,
        streams: Streams,
    ) -> Step:
        """Return losses and gradients at one iteration."""
        latents = [latent.detach().requires_grad_() for latent in distribution.latents()]
        current = distribution.with_latents(latents)
        temperature = recipe.temperature(iteration, recipe.iterations)
        scores = self.relaxed(current.relaxed(recipe.samples, temperature, streams))
        shape = (current.restarts, recipe.samples, -1)
        iterate = Iterate(current, scores.logits.view(shape), scores.embedding.view(shape), goal)
        terms = _weighted_terms(iterate, recipe, iteration)
        means = {
            name: value.mean(1) if value.dim() == 2 else value for name, value in terms.items()
        }
        loss = torch.stack(list(means.values())).sum(0)
        gradients = torch.autograd.grad(loss.sum(), latents, allow_unused=True)
        return Step(
            loss.detach(),
            {name: value.detach() for name, value in means.items()},
            [
                torch.zeros_like(x) if g is None else g
                for x, g in zip(latents, gradients, strict=True)
            ],
        )


class ScoreFunctionGradient:
    r"""The score-function gradient on discrete samples, for models that cannot be relaxed.

    :math:`\nabla E[f] = E[(f - b) \nabla \log P(G)]`, with the mean of the other samples as the
    baseline b of each. Right for any model whatever, and noisier: more samples are drawn. Divided
    by the spread of the costs, so that a step does not depend on their scale: unbiased up to that
    factor, and to order 1/K for its being estimated from the same samples.

    Args:
        classifier: The native model.
        factor: How many times the recipe's number of samples to draw.
        jitter: Noise on the latents of continuous features, without which they would not vary.
    """

    name = "score-function"

    def __init__(self, classifier: GraphClassifier, factor: int = 6, jitter: float = 0.5) -> None:
        """Use a native model."""
        self.classifier = classifier
        self.factor = factor
        self.jitter = jitter

    def __call__(
        self,
        distribution: GraphDistribution,
        goal: Goal,
        recipe: Recipe,
        iteration: int,
        streams: Streams,
    ) -> Step:
        """Return losses and gradients at one iteration."""
        latents = [latent.detach().requires_grad_() for latent in distribution.latents()]
        current = distribution.with_latents(latents)
        samples = recipe.samples * self.factor
        graphs = current.discrete(samples, streams, self.jitter)
        scores = self.classifier.score(graphs)
        shape = (current.restarts, samples, -1)
        iterate = Iterate(current, scores.logits.view(shape), scores.embedding.view(shape), goal)
        terms = _weighted_terms(iterate, recipe, iteration)
        of_samples = [value for value in terms.values() if value.dim() == 2]
        of_distribution = [value for value in terms.values() if value.dim() == 1]
        cost = _without_nan(torch.stack(of_samples).sum(0).detach())
        others = (cost.sum(1, keepdim=True) - cost) / max(samples - 1, 1)
        # Scaled by the spread, so that the step does not depend on the scale of the scores.
        advantage = (cost - others) / (cost.std(1, keepdim=True) + 1e-6)
        surrogate = (advantage * current.log_probability(graphs, self.jitter)).mean(1)
        if of_distribution:
            surrogate = surrogate + torch.stack(of_distribution).sum(0)
        gradients = torch.autograd.grad(surrogate.sum(), latents, allow_unused=True)
        means = {
            name: _without_nan(value.detach()).mean(1) if value.dim() == 2 else value.detach()
            for name, value in terms.items()
        }
        return Step(
            torch.stack(list(means.values())).sum(0),
            means,
            [
                torch.zeros_like(x) if g is None else g
                for x, g in zip(latents, gradients, strict=True)
            ],
        )


def _weighted_terms(iterate: Iterate, recipe: Recipe, iteration: int) -> dict[str, Tensor]:
    terms = {}
    for weighted in recipe.terms:
        weight = weighted.weight(iteration, recipe.iterations)
        if weight != 0.0:
            terms[weighted.term.name] = weight * weighted.term(iterate)
    return terms


def _without_nan(cost: Tensor) -> Tensor:
    """Give samples without a score (empty graphs) the worst cost of their restart and some more."""
    worst = cost.nan_to_num(nan=-torch.inf).amax(dim=1, keepdim=True)
    worst = torch.where(torch.isfinite(worst), worst, torch.zeros_like(worst))
    return torch.where(torch.isnan(cost), worst + 1.0, cost)
