"""What all terms have in common: a number for each restart, blind to how nodes are numbered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.objective import (
    Budget,
    Certainty,
    Connectivity,
    Entropy,
    LatentNorm,
    Likeness,
    Proposals,
    RawScore,
    Size,
    Term,
    Wholeness,
)
from tests.tiny import SPECS, aim, distribution, graph, iterate, problem

OF_DISTRIBUTION: list[Term] = [
    Budget(), Wholeness(), Connectivity(), Entropy(), LatentNorm(1), LatentNorm(2),
]  # fmt: skip
OF_SAMPLES: list[Term] = [RawScore(), Certainty(), Likeness()]


def renumbered(of: GraphDistribution, order: Tensor) -> GraphDistribution:
    """The same distribution with its nodes in another order."""

    def pairs(values: Tensor) -> Tensor:
        square = of.to_dense(values)
        return of.to_pairs(square[:, order][:, :, order])

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
    after = aim(max_edges=4.0)
    before = term.soft(iterate(of, after=after))
    for seed in range(3):
        order = torch.randperm(6, generator=torch.Generator().manual_seed(seed))
        other = renumbered(of, order)
        assert not torch.equal(other.edge_logits, of.edge_logits)
        assert torch.allclose(term.soft(iterate(other, after=after)), before)


@pytest.mark.parametrize("term", OF_DISTRIBUTION, ids=lambda term: term.name)
def test_terms_of_the_distribution_give_a_number_for_each_restart(term: Term) -> None:
    of = distribution(SPECS["rich"], 4, restarts=3)
    found = term.soft(iterate(of, after=aim(max_edges=2.0)))
    assert found.shape == (3,)
    for r in range(3):
        alone = term.soft(iterate(of.select([r]), after=aim(max_edges=2.0)))
        assert torch.allclose(alone, found[r : r + 1])


@pytest.mark.parametrize("term", OF_SAMPLES, ids=lambda term: term.name)
def test_terms_of_samples_give_a_number_for_each_sample(term: Term) -> None:
    of = distribution(SPECS["plain"], 3, restarts=2)
    logits = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0)).double()
    found = term.soft(iterate(of, logits=logits, after=aim(mean=[1.0, 2.0, 3.0])))
    assert found.shape == (2, 5)


@pytest.mark.parametrize("term", OF_DISTRIBUTION, ids=lambda term: term.name)
@pytest.mark.parametrize("name", SPECS)
def test_gradients_of_terms_of_the_distribution(term: Term, name: str) -> None:
    of = distribution(SPECS[name], 4, restarts=2, seed=1)
    after = aim(max_edges=1.0)
    latents = tuple(latent.requires_grad_() for latent in of.latents())

    def loss(*values: Tensor) -> Tensor:
        return term.soft(iterate(of.with_latents(values), after=after))

    assert torch.autograd.gradcheck(loss, latents)
    assert torch.autograd.grad(loss(*latents).sum(), latents[0])[0].abs().sum() > 0


@pytest.mark.parametrize("term", OF_SAMPLES, ids=lambda term: term.name)
def test_gradients_of_terms_of_samples(term: Term) -> None:
    of = distribution(SPECS["plain"], 3, restarts=2)
    after = aim(1, mean=[1.0, -2.0, 0.5])
    logits = torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(1)).double()

    def loss(values: Tensor) -> Tensor:
        return term.soft(iterate(of, logits=values, after=after))

    assert torch.autograd.gradcheck(loss, (logits.requires_grad_(),))
    assert torch.autograd.grad(loss(logits).sum(), logits)[0].abs().sum() > 0


def test_names_tell_terms_apart() -> None:
    names = [term.name for term in (*OF_DISTRIBUTION, *OF_SAMPLES, Size())]
    assert len(set(names)) == len(names) == 10


@dataclass(frozen=True)
class Edges(Term):
    """A term of a user's own, in one reading for all."""

    smooth: ClassVar[bool] = True

    def discrete(self, proposals: Proposals) -> Tensor:
        return proposals.edges


def test_a_smooth_term_needs_one_reading_for_gradient_and_graphs() -> None:
    of = distribution(SPECS["plain"], 4, restarts=2)
    latents = [latent.requires_grad_() for latent in of.latents()]
    seen = iterate(of.with_latents(latents))
    loss = Edges().soft(seen)
    assert loss is not None
    assert torch.allclose(loss, seen.graphs.num_edges.view(2, 2))
    assert (torch.autograd.grad(loss.sum(), latents[0])[0] > 0).all()
    assert Term().soft(seen) is None
    found = problem(lambda graphs: graphs.num_edges).propose(graph(4, [(0, 1), (1, 2)]))
    assert Edges().discrete(found).tolist() == [2.0]
    assert Edges().guide(found).tolist() == [2.0]
    assert Edges().feasible(found) is None
    assert Edges().name == "Edges"
