"""What all terms have in common: a number for each restart, blind to how nodes are numbered."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.objective import (
    Budget,
    ClassLogProbability,
    ClassScore,
    Connectivity,
    EmbeddingSimilarity,
    Entropy,
    Goal,
    LatentNorm,
    RelativeBudget,
    Term,
)
from tests.tiny import SPECS, distribution, goal, iterate

OF_DISTRIBUTION: list[Term] = [
    Budget(), RelativeBudget(), Connectivity(), Entropy(), LatentNorm(1), LatentNorm(2),
]  # fmt: skip
OF_SAMPLES: list[Term] = [ClassScore(), ClassLogProbability(), EmbeddingSimilarity()]


def renumbered(of: GraphDistribution, order: Tensor) -> GraphDistribution:
    """The same distribution with its nodes in another order."""

    def pairs(values: Tensor) -> Tensor:
        square = of.spread(values)
        return of.pairs(square[:, order][:, :, order])

    return GraphDistribution(
        of.spec,
        of.num_candidates,
        pairs(of.edge_logits),
        tuple(latent[:, order] for latent in of.node_logits),
        tuple(pairs(latent) for latent in of.edge_feature_logits),
    )


@pytest.mark.parametrize("term", OF_DISTRIBUTION, ids=lambda term: term.name)
@pytest.mark.parametrize("name", SPECS)
def test_terms_of_the_distribution_do_not_see_how_nodes_are_numbered(term: Term, name: str) -> None:
    of = distribution(SPECS[name], 6, restarts=3, seed=2)
    aim = goal(3, max_edges=4.0)
    before = term(iterate(of, aim=aim))
    for seed in range(3):
        order = torch.randperm(6, generator=torch.Generator().manual_seed(seed))
        other = renumbered(of, order)
        assert not torch.equal(other.edge_logits, of.edge_logits)
        assert torch.allclose(term(iterate(other, aim=aim)), before)


@pytest.mark.parametrize("term", OF_DISTRIBUTION, ids=lambda term: term.name)
def test_terms_of_the_distribution_give_a_number_for_each_restart(term: Term) -> None:
    of = distribution(SPECS["rich"], 4, restarts=3)
    found = term(iterate(of, aim=goal(3, max_edges=2.0)))
    assert not term.per_sample
    assert found.shape == (3,)
    for r in range(3):
        alone = term(iterate(of.select([r]), aim=goal(max_edges=2.0)))
        assert torch.allclose(alone, found[r : r + 1])


@pytest.mark.parametrize("term", OF_SAMPLES, ids=lambda term: term.name)
def test_terms_of_samples_give_a_number_for_each_sample(term: Term) -> None:
    of = distribution(SPECS["plain"], 3, restarts=2)
    logits = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0)).double()
    found = term(iterate(of, logits=logits, aim=goal(2, mean=[1.0, 2.0, 3.0])))
    assert term.per_sample
    assert found.shape == (2, 5)


@pytest.mark.parametrize("term", OF_DISTRIBUTION, ids=lambda term: term.name)
@pytest.mark.parametrize("name", SPECS)
def test_gradients_of_terms_of_the_distribution(term: Term, name: str) -> None:
    of = distribution(SPECS[name], 4, restarts=2, seed=1)
    aim = goal(2, max_edges=1.0)
    latents = tuple(latent.requires_grad_() for latent in of.latents())

    def loss(*values: Tensor) -> Tensor:
        return term(iterate(of.with_latents(values), aim=aim))

    assert torch.autograd.gradcheck(loss, latents)
    assert torch.autograd.grad(loss(*latents).sum(), latents[0])[0].abs().sum() > 0


@pytest.mark.parametrize("term", OF_SAMPLES, ids=lambda term: term.name)
def test_gradients_of_terms_of_samples(term: Term) -> None:
    of = distribution(SPECS["plain"], 3, restarts=2)
    aim = goal(2, target=1, mean=[1.0, -2.0, 0.5])
    logits = torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(1)).double()

    def loss(values: Tensor) -> Tensor:
        return term(iterate(of, logits=values, aim=aim))

    assert torch.autograd.gradcheck(loss, (logits.requires_grad_(),))
    assert torch.autograd.grad(loss(logits).sum(), logits)[0].abs().sum() > 0


def test_names_tell_terms_apart() -> None:
    names = [term.name for term in (*OF_DISTRIBUTION, *OF_SAMPLES)]
    assert len(set(names)) == len(names) == 9


def test_goals_of_some_restarts() -> None:
    aim = Goal(
        torch.tensor([0, 1, 2]),
        torch.tensor([[1.0], [2.0], [3.0]]),
        torch.tensor([4.0, 5.0, 6.0]),
        torch.tensor([7.0, 8.0, 9.0]),
        torch.tensor([0.1, 0.2, 0.3]),
    )
    chosen = aim.select(torch.tensor([2, 0, 2]))
    assert chosen.target.tolist() == [2, 0, 2]
    assert chosen.mean_embedding is not None
    assert chosen.mean_embedding.tolist() == [[3.0], [1.0], [3.0]]
    assert chosen.max_edges.tolist() == [6.0, 4.0, 6.0]
    assert chosen.max_nodes.tolist() == [9.0, 7.0, 9.0]
    assert chosen.similarity.tolist() == pytest.approx([0.3, 0.1, 0.3])
    assert goal(2).select(torch.tensor([0])).mean_embedding is None
