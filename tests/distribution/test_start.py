"""Where a search begins: the distribution of first latents, and distributions around graphs."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gnninterpreter.distribution import Streams, around_density, from_graphs, uniform_start
from gnninterpreter.graphs import random_graphs
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.tiny import PLAIN, RICH, graph, specs

TYPED = GraphSpec(nodes=(Categorical(4),), edges=(Categorical(3),))


def test_uniform_start_has_uniform_edge_probabilities() -> None:
    start = uniform_start(PLAIN, 30, Streams(0, 40), torch.float64)
    theta = start.edge_probability.flatten().sort().values
    n = theta.numel()
    steps = torch.arange(1, n + 1, dtype=torch.double) / n
    assert float((theta - steps).abs().max()) * math.sqrt(n) < 1.95


def test_uniform_start_has_categories_uniform_on_the_simplex() -> None:
    start = uniform_start(TYPED, 30, Streams(1, 40), torch.float64)
    shares = start.node_logits[0].softmax(-1).flatten(0, 1)
    assert torch.allclose(start.node_logits[0].exp().sum(-1), torch.ones(40, 30).double())
    # Each share of a uniform point on the simplex of k corners is Beta(1, k - 1).
    ordered = shares[:, 0].sort().values
    n = ordered.numel()
    steps = torch.arange(1, n + 1, dtype=torch.double) / n
    cdf = 1 - (1 - ordered) ** 3
    assert float((cdf - steps).abs().max()) * math.sqrt(n) < 1.95
    assert start.edge_feature_logits[0].shape == (40, 435, 3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_starts_have_the_asked_type_and_shapes(dtype: torch.dtype) -> None:
    density = torch.tensor([0.1, 0.4])
    for start in (
        uniform_start(RICH, 5, Streams(0, 2), dtype),
        around_density(RICH, 5, density, Streams(0, 2), dtype=dtype),
    ):
        assert {latent.dtype for latent in start.latents()} == {dtype}
        shapes = [tuple(latent.shape[1:]) for latent in start.latents()]
        assert shapes == [(10,), (5, 2), (5, 1), (5, 3), (10, 3), (10, 2)]
        assert all(torch.isfinite(latent).all() for latent in start.latents())


def test_each_restart_starts_around_its_own_density() -> None:
    density = torch.tensor([0.05, 0.3, 0.7], dtype=torch.double)
    start = around_density(PLAIN, 60, density, Streams(2, 3), spread=0.5, dtype=torch.float64)
    middle = start.edge_logits.median(dim=1).values
    assert middle.tolist() == pytest.approx(torch.logit(density).tolist(), abs=0.06)
    assert start.edge_logits.std(dim=1).tolist() == pytest.approx([0.5] * 3, abs=0.03)


def test_a_restart_starts_the_same_whatever_their_number() -> None:
    few, many = (uniform_start(RICH, 4, Streams(7, r), torch.float64) for r in (2, 9))
    for one, other in zip(few.latents(), many.latents(), strict=True):
        assert torch.allclose(one, other[:2], rtol=0, atol=1e-14)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(spec=specs(), size=st.integers(2, 5), seed=st.integers(0, 100))
def test_the_mode_of_a_distribution_from_graphs_is_those_graphs(
    spec: GraphSpec, size: int, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    graphs = random_graphs(spec, 3, size, generator, dtype=torch.float64)
    mode = from_graphs(graphs).mode()
    assert torch.equal(mode.weight, graphs.weight)
    # A number at its bound is put back to within 1e-4 of the width.
    assert torch.allclose(mode.nodes, graphs.nodes, atol=1e-3)
    if graphs.edges is not None:
        assert mode.edges is not None
        off = ~torch.eye(size, dtype=torch.bool)
        assert torch.allclose(mode.edges[:, off], graphs.edges[:, off], atol=1e-3)


def test_certainty_is_the_probability_of_every_edge_and_category() -> None:
    one = graph(3, [(0, 1)], TYPED, colours=[0, 3, 1])
    of = from_graphs(one, certainty=0.97)
    assert of.edge_probability[0].tolist() == pytest.approx([0.97, 0.03, 0.03])
    shares = of.node_logits[0].softmax(-1)[0]
    assert shares[[0, 1, 2], [0, 3, 1]].tolist() == pytest.approx([0.97] * 3)
    kinds = of.edge_feature_logits[0].softmax(-1)[0]
    assert kinds[:, 0].tolist() == pytest.approx([0.97] * 3)


def test_constants_get_a_finite_latent() -> None:
    spec = GraphSpec(nodes=(Continuous(1, 2.0, 2.0),))
    of = from_graphs(graph(3, [(0, 1), (1, 2)], spec))
    assert (of.node_logits[0] == 0).all()
    assert (of.mode().nodes == 2.0).all()
