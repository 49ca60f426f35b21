"""Both gradients: the relaxed one against finite differences, the other against enumeration."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import (
    Aim,
    Budget,
    Certainty,
    LatentNorm,
    Likeness,
    Objective,
    Ramp,
    RawScore,
    Term,
    WarmUp,
    Weighted,
)
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Problem
from gnninterpreter.search.gradient import Moment, RelaxedGradient, ScoreFunctionGradient
from gnninterpreter.spec import Continuous, GraphSpec
from tests.tiny import (
    COLOURED,
    PLAIN,
    Oracle,
    aim,
    degree_classifier,
    distribution,
    every_graph,
)

CLASSIFIER = degree_classifier(COLOURED)


def moment(
    iteration: int = 0, samples: int = 10, temperature: float = 0.2, iterations: int = 20
) -> Moment:
    return Moment(iteration, iterations, samples, temperature)


def task(
    classifier: GraphClassifier,
    *terms: Term | Weighted,
    after: Aim | None = None,
    relax: bool = True,
) -> Problem:
    weighted = [t if isinstance(t, Weighted) else Weighted(t) for t in terms or (RawScore(),)]
    relaxed = RelaxedModel(classifier) if relax else None
    return Problem(classifier, relaxed, Objective(tuple(weighted)), after or aim())


def by_scores(
    logits: Callable[[DenseGraphs], Tensor], *terms: Term, **settings: float
) -> ScoreFunctionGradient:
    return ScoreFunctionGradient(task(Oracle(logits), *terms, relax=False), **settings)


# --- through the relaxed model ------------------------------------------------------------------


def test_the_relaxed_gradient_is_that_of_the_loss() -> None:
    of = distribution(COLOURED, 4, restarts=2, seed=3)
    after = aim(1, mean=[-2.0], max_edges=2.0)
    gradient = RelaxedGradient(task(CLASSIFIER, Certainty(), Likeness(), Budget(), after=after))
    at = moment(5, samples=3, temperature=0.7)

    def loss(latents: list[Tensor]) -> Tensor:
        return gradient(of.with_latents(latents), at, Streams(1, 2)).loss

    step = gradient(of, at, Streams(1, 2))
    assert step.loss.shape == (2,)
    assert not step.loss.requires_grad
    for i, slopes in enumerate(step.gradients):
        for place in (0, 1, slopes[0].numel() - 1):
            moved = []
            for sign in (1, -1):
                latents = [latent.clone() for latent in of.latents()]
                latents[i].view(2, -1)[:, place] += sign * 1e-5
                moved.append(loss(latents))
            slope = (moved[0] - moved[1]) / 2e-5
            assert torch.allclose(slopes.view(2, -1)[:, place], slope, atol=1e-6)


def test_losses_are_weighted_terms_averaged_over_samples() -> None:
    of = distribution(COLOURED, 4, restarts=2)
    asked = task(
        CLASSIFIER,
        Weighted(RawScore(), soft=2.0),
        Weighted(LatentNorm(2), soft=WarmUp(3.0, steps=10)),
        Weighted(Budget(), soft=Ramp(0.0, 1.0, begin=0.5)),
    )
    step = RelaxedGradient(asked)(of, moment(5, samples=4), Streams(0, 2))
    drawn = of.relaxed(4, 0.2, Streams(0, 2))
    assert asked.relaxed is not None
    scores = asked.relaxed(drawn).logits[:, 0].view(2, 4).mean(1)
    assert set(step.terms) == {"class score", "L2"}  # the budget's weight is still 0
    assert torch.allclose(step.terms["class score"], -2.0 * scores)
    assert torch.allclose(step.terms["L2"], 1.5 * of.edge_logits.norm(dim=1))
    assert torch.allclose(step.loss, step.terms["class score"] + step.terms["L2"])


def test_restarts_some_at_a_time_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    of = distribution(COLOURED, 4, restarts=5)
    gradient = RelaxedGradient(task(CLASSIFIER, Certainty(), Likeness(), Budget()))
    at, streams, parts = moment(5, samples=3), Streams(1, 5), Streams(1, 5)
    whole = [gradient(of, at, streams) for _ in range(2)]
    monkeypatch.setattr("gnninterpreter.search.gradient.CACHED", 2 * 3 * 16)
    for one in whole:  # the second draws other numbers than the first
        some = gradient(of, at, parts)
        assert torch.allclose(some.loss, one.loss)
        assert list(some.terms) == list(one.terms)
        for a, b in zip(some.gradients, one.gradients, strict=True):
            assert torch.allclose(a, b, atol=1e-7)
    assert parts.position == streams.position
    assert not torch.allclose(whole[0].loss, whole[1].loss)


def test_a_gradient_with_nothing_to_follow_is_refused() -> None:
    asked = task(CLASSIFIER, LatentNorm(1))
    with pytest.raises(SpecError, match="nothing to follow; add Certainty"):
        RelaxedGradient(asked)(distribution(COLOURED, 4), moment(), Streams(0, 1))


def test_latents_that_do_not_matter_get_a_gradient_of_zeros() -> None:
    gradient = RelaxedGradient(task(degree_classifier(PLAIN)))
    of = distribution(PLAIN, 4, restarts=2)
    step = gradient(of, moment(), Streams(0, 2))
    assert [g.shape for g in step.gradients] == [latent.shape for latent in of.latents()]
    assert (step.gradients[0] != 0).any()
    assert (step.gradients[1] == 0).all()  # a constant feature


# --- around a model that cannot be relaxed ------------------------------------------------------


def known(graphs: DenseGraphs) -> Tensor:
    """A cost of graphs that looks at edges, at pairs of edges and at colours."""
    weight, colour = graphs.weight, graphs.nodes[..., 0]
    triangle = weight[:, 0, 1] * weight[:, 1, 2] * weight[:, 0, 2]
    alike = (weight * colour.unsqueeze(1) * colour.unsqueeze(2)).sum(dim=(1, 2))
    value = 2.0 * weight[:, 0, 1] - weight[:, 1, 2] + 3.0 * triangle + 0.5 * alike
    return torch.stack([-value, torch.zeros_like(value)], dim=1)


def exact_gradient(of: GraphDistribution) -> list[Tensor]:
    """Gradient of the expected cost, by going through all graphs."""
    graphs = every_graph(3, COLOURED)
    latents = [latent.detach().clone().requires_grad_() for latent in of.latents()]
    everything = of.with_latents(latents).log_probability(graphs).exp()
    expected = (everything * -known(graphs)[:, 0]).sum()
    return list(torch.autograd.grad(expected, latents))


def test_the_score_function_gradient_has_the_exact_one_as_its_mean() -> None:
    of = distribution(COLOURED, 3, seed=4)
    gradient = by_scores(known, least=100_000)
    # Steps are in units of the spread of the costs.
    spread = float(known(of.discrete(20_000, Streams(9, 1)))[:, 0].std())
    found = gradient(of, moment(), Streams(0, 1)).gradients
    for one, other in zip(found, exact_gradient(of), strict=True):
        assert other.abs().max() > 0.04
        assert torch.allclose(one * spread, other, atol=0.012)


def test_many_small_draws_agree_with_the_exact_direction() -> None:
    of = distribution(COLOURED, 3, seed=4)
    gradient = by_scores(known)
    copies = of.select([0] * 1000)
    found = gradient(copies, moment(), Streams(3, 1000)).gradients
    mean = torch.cat([g.mean(0).flatten() for g in found])
    exact = torch.cat([g.flatten() for g in exact_gradient(of)])
    assert torch.cosine_similarity(mean, exact, dim=0) > 0.997


def test_a_constant_added_to_every_score_changes_nothing() -> None:
    of = distribution(COLOURED, 3, restarts=2)
    steps = [
        by_scores(lambda g, by=by: known(g) + by)(of, moment(), Streams(0, 2))
        for by in (0.0, 100.0)
    ]
    for one, other in zip(steps[0].gradients, steps[1].gradients, strict=True):
        assert torch.allclose(one, other)
    assert torch.allclose(steps[0].loss - 100.0, steps[1].loss)


def test_terms_of_the_distribution_keep_their_own_gradient() -> None:
    of = distribution(COLOURED, 4, restarts=2)

    def level(graphs: DenseGraphs) -> Tensor:
        return torch.ones(len(graphs), 2, dtype=torch.double)

    gradient = by_scores(level, RawScore(), LatentNorm(2))
    step = gradient(of, moment(), Streams(0, 2))
    norm = of.edge_logits.norm(dim=1, keepdim=True)
    assert torch.allclose(step.gradients[0], of.edge_logits / norm)
    assert torch.allclose(step.loss, norm.squeeze(1) - 1)


def test_more_samples_are_drawn_than_of_the_relaxed_gradient() -> None:
    oracle = Oracle(known)
    of = distribution(COLOURED, 3, restarts=2)
    gradient = ScoreFunctionGradient(task(oracle, relax=False), least=20)
    gradient(of, moment(samples=5), Streams(0, 2))
    assert oracle.asked == 2 * 20
    gradient(of, moment(samples=30), Streams(0, 2))
    assert oracle.asked == 2 * (20 + 30)


def test_samples_without_a_score_count_as_worse_than_the_worst() -> None:
    def without_empty(graphs: DenseGraphs) -> Tensor:
        logits = known(graphs)
        logits[graphs.empty] = torch.nan
        return logits

    def with_penalty(graphs: DenseGraphs) -> Tensor:
        logits = known(graphs)
        logits[graphs.empty] = float(logits[~graphs.empty, 0].min()) - 1.0
        return logits

    of = distribution(COLOURED, 3, seed=4)
    steps = [
        by_scores(logits)(of, moment(samples=20), Streams(0, 1))
        for logits in (without_empty, with_penalty)
    ]
    assert torch.isfinite(steps[0].loss).all()
    assert torch.allclose(steps[0].loss, steps[1].loss)
    for one, other in zip(steps[0].gradients, steps[1].gradients, strict=True):
        assert torch.allclose(one, other)


def test_continuous_features_are_learned_too() -> None:
    spec = GraphSpec(nodes=(Continuous(1, 0.0, 1.0),), class_names=("a", "b"))
    of = distribution(spec, 3)

    def large(graphs: DenseGraphs) -> Tensor:
        value = graphs.nodes.sum(dim=(1, 2))
        return torch.stack([value, -value], dim=1)

    step = by_scores(large, least=500)(of, moment(), Streams(0, 1))
    assert (step.gradients[1] < 0).all()  # downhill is towards larger values
