"""The distribution over graphs: sampling, mode and log-probability against what they should be."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.distribution.features import _softmax, latent_of, most_probable_values
from gnninterpreter.distribution.pairs import pair_ends, pair_places
from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.spec.encoding import split_blocks
from tests.tiny import (
    COLOURED,
    DIRECTED,
    RICH,
    SPECS,
    distribution,
    edges_only,
    every_graph,
    specs,
)

EXAMPLES = settings(derandomize=True, deadline=None, max_examples=40)


class Given(Streams):
    """Uniform numbers from a list instead of a generator."""

    def __init__(self, *draws: list[float]) -> None:
        self.draws = list(draws)

    def uniform(
        self, *shape: int, dtype: torch.dtype = torch.float32, places: Tensor | None = None
    ) -> Tensor:
        return torch.tensor(self.draws.pop(0), dtype=dtype).view(-1, *shape)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def softmax(xs: list[float]) -> list[float]:
    powers = [math.exp(x) for x in xs]
    return [p / sum(powers) for p in powers]


# --- layout -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 5])
def test_candidate_edges_are_all_pairs_in_order(size: int) -> None:
    device = torch.device("cpu")
    row, column = pair_ends(size, False, device)
    assert list(zip(row.tolist(), column.tolist(), strict=True)) == list(
        combinations(range(size), 2)
    )
    row, column = pair_ends(size, True, device)
    assert sorted(zip(row.tolist(), column.tolist(), strict=True)) == sorted(
        permutations(range(size), 2)
    )
    for directed in (False, True):
        row, column = pair_ends(size, directed, device)
        places = pair_places(size, directed, device)
        assert places[row, column].tolist() == list(range(row.numel()))
        assert places.diagonal().tolist() == [row.numel()] * size
        assert directed or torch.equal(places, places.t())


@EXAMPLES
@given(spec=specs(), size=st.integers(2, 6), trailing=st.integers(0, 2))
def test_spreading_over_both_ends_and_back_is_the_identity(
    spec: GraphSpec, size: int, trailing: int
) -> None:
    of = distribution(spec, size)
    values = Streams(1, 3).uniform(of.edge_logits.size(1), *[2] * trailing)
    square = of.to_dense(values)
    assert square.shape == (3, size, size, *[2] * trailing)
    assert torch.equal(of.to_pairs(square), values)
    assert (square.diagonal(dim1=1, dim2=2) == 0).all()
    assert spec.directed or torch.equal(square, square.transpose(1, 2))


def test_shapes_that_do_not_fit_are_refused() -> None:
    good = distribution(COLOURED, 4)
    with pytest.raises(SpecError, match=r"max_nodes must be at least 2 \(got 1\)"):
        GraphDistribution(COLOURED, 1, torch.zeros(1, 0), (torch.zeros(1, 1, 2),))
    with pytest.raises(SpecError, match=r"edge_logits must have shape \[R, 6\] \(got \[1, 5\]\)"):
        good.with_latents([good.edge_logits[:, :5], *good.node_logits])


def test_latents_go_out_and_come_back_in_order() -> None:
    of = distribution(RICH, 4, restarts=3)
    shapes = [list(latent.shape) for latent in of.latents()]
    assert shapes == [[3, 6], [3, 4, 2], [3, 4, 1], [3, 4, 3], [3, 6, 3], [3, 6, 2]]
    again = of.with_latents(of.latents())
    assert len(again.node_logits) == 3
    assert len(again.edge_feature_logits) == 2
    chosen = of.select([2, 0])
    assert chosen.restarts == 2
    assert torch.equal(chosen.edge_logits, of.edge_logits[[2, 0]])
    copy = of.detach()
    copy.edge_logits.add_(1.0)
    assert not torch.equal(copy.edge_logits, of.edge_logits)


def test_expected_edges_by_hand() -> None:
    of = edges_only([[0.0, math.log(3), -math.log(3)], [50.0, 50.0, -50.0]], 3)
    assert of.edge_probability[0].tolist() == pytest.approx([0.5, 0.75, 0.25])
    assert of.expected_edges.tolist() == pytest.approx([1.5, 2.0])


# --- relaxed samples ----------------------------------------------------------------------------


def test_relaxed_edges_follow_equation_5() -> None:
    of = edges_only([[0.3, -1.2, 2.0]], 3)
    noise = [0.5, 0.2, 0.9, 0.1, 0.7, 0.4]
    drawn = of.relaxed(2, 0.2, Given(noise))
    pairs = [(0, 1), (0, 2), (1, 2)]
    for k in range(2):
        for m, (i, j) in enumerate(pairs):
            u, omega = noise[3 * k + m], (0.3, -1.2, 2.0)[m]
            expected = sigmoid((omega + math.log(u) - math.log(1 - u)) / 0.2)
            assert float(drawn.weight[k, i, j]) == pytest.approx(expected, rel=1e-9)
            assert drawn.weight[k, j, i] == drawn.weight[k, i, j]


def test_relaxed_categories_follow_equation_5() -> None:
    spec = GraphSpec(nodes=(Categorical(2),), edges=(Categorical(3),), directed=True)
    xi = [[0.2, -0.4], [1.0, 0.0]]
    eta = [[0.1, 0.2, 0.3], [-1.0, 0.5, 2.0]]
    of = GraphDistribution(
        spec,
        2,
        torch.zeros(1, 2, dtype=torch.double),
        (torch.tensor([xi], dtype=torch.double),),
        (torch.tensor([eta], dtype=torch.double),),
    )
    node_noise, edge_noise = [0.3, 0.6, 0.9, 0.1], [0.2, 0.4, 0.6, 0.8, 0.5, 0.7]
    drawn = of.relaxed(1, 0.5, Given([0.5, 0.5], node_noise, edge_noise))
    for i in range(2):
        scores = [(xi[i][c] - math.log(-math.log(node_noise[2 * i + c]))) / 0.5 for c in range(2)]
        assert drawn.nodes[0, i].tolist() == pytest.approx(softmax(scores))
    assert drawn.edges is not None
    for m, (i, j) in enumerate([(0, 1), (1, 0)]):
        scores = [(eta[m][c] - math.log(-math.log(edge_noise[3 * m + c]))) / 0.5 for c in range(3)]
        assert drawn.edges[0, i, j].tolist() == pytest.approx(softmax(scores))


def test_samples_are_independent_draws_and_not_copies() -> None:
    of = distribution(COLOURED, 5, restarts=2)
    drawn = of.relaxed(400, 0.5, Streams(0, 2))
    weight = of.to_pairs(drawn.weight).view(2, 400, 10)
    for r in range(2):
        assert weight[r].unique(dim=0).size(0) == 400
        one, next_one = weight[r, :-1].flatten(), weight[r, 1:].flatten()
        centred = weight[r] - weight[r].mean(0)
        assert not torch.allclose(one, next_one)
        products = (centred[:-1] * centred[1:]).sum() / centred.square().sum()
        assert abs(float(products)) < 4 / math.sqrt(4000)
    assert not torch.equal(drawn.nodes[0], drawn.nodes[1])


def test_the_same_restart_draws_the_same_whatever_their_number() -> None:
    five = distribution(RICH, 4, restarts=5)
    two = five.select([0, 1])
    hard = five.discrete(6, Streams(9, 5))[:12], two.discrete(6, Streams(9, 2))
    soft = five.relaxed(6, 0.3, Streams(9, 5))[:12], two.relaxed(6, 0.3, Streams(9, 2))
    assert torch.equal(hard[0].weight, hard[1].weight)
    for many, few in (hard, soft):
        for name in ("weight", "nodes", "edges"):
            # Vectorised functions round the last bit by a number's place in memory.
            assert torch.allclose(getattr(many, name), getattr(few, name), rtol=0, atol=1e-14)


def test_a_relaxed_edge_is_above_one_half_as_often_as_it_is_there() -> None:
    of = edges_only([[-1.5, 0.0, 0.7]], 3)
    samples = 20_000
    drawn = of.to_pairs(of.relaxed(samples, 0.3, Streams(4, 1)).weight)
    share = (drawn > 0.5).double().mean(0)
    assert share.tolist() == pytest.approx(of.edge_probability[0].tolist(), abs=0.016)


def test_gradients_reach_every_latent() -> None:
    of = distribution(RICH, 4, restarts=2)
    latents = [latent.requires_grad_() for latent in of.latents()]
    drawn = of.with_latents(latents).relaxed(3, 0.5, Streams(0, 2))
    assert drawn.edges is not None
    total = drawn.weight.square().sum() + drawn.nodes.square().sum() + drawn.edges.square().sum()
    for gradient in torch.autograd.grad(total, latents):
        assert torch.isfinite(gradient).all()
        assert (gradient.flatten(1) != 0).any(dim=1).all()


@EXAMPLES
@given(spec=specs(), size=st.integers(2, 5), seed=st.integers(0, 1000))
def test_every_draw_is_a_graph_of_its_spec(spec: GraphSpec, size: int, seed: int) -> None:
    of = distribution(spec, size, restarts=2, seed=seed)
    for hard, drawn in (
        (False, of.relaxed(3, 0.4, Streams(seed, 2))),
        (True, of.discrete(3, Streams(seed, 2))),
        (True, of.discrete(3, Streams(seed, 2), jitter=0.7)),
        (True, of.mode()),
    ):
        check_graphs(drawn, hard)
        assert len(drawn) in (2, 6)
        assert drawn.num_candidates == size


def check_graphs(drawn: DenseGraphs, hard: bool) -> None:
    spec = drawn.spec
    assert ((drawn.weight >= 0) & (drawn.weight <= 1)).all()
    assert (drawn.weight.diagonal(dim1=1, dim2=2) == 0).all()
    assert spec.directed or torch.equal(drawn.weight, drawn.weight.transpose(1, 2))
    assert not hard or ((drawn.weight == 0) | (drawn.weight == 1)).all()
    check_features(drawn.nodes, spec.nodes, hard)
    assert (drawn.edges is None) == (not spec.edges)
    if drawn.edges is not None:
        off = ~torch.eye(drawn.num_candidates, dtype=torch.bool)
        check_features(drawn.edges[:, off], spec.edges, hard)
        assert spec.directed or torch.equal(drawn.edges, drawn.edges.transpose(1, 2))


def check_features(
    values: Tensor, blocks: tuple[Categorical | Continuous, ...], hard: bool
) -> None:
    for block, part in zip(blocks, split_blocks(values, blocks), strict=True):
        if isinstance(block, Categorical):
            assert (part >= 0).all()
            assert torch.allclose(part.sum(-1), torch.ones_like(part[..., 0]))
            assert not hard or ((part == 0) | (part == 1)).all()
        else:
            low, high = part.new_tensor(block.low), part.new_tensor(block.high)
            assert (part >= low - 1e-9).all()
            assert (part <= high + 1e-9).all()


# --- discrete samples and the mode --------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
def test_discrete_frequencies_match_theta_and_softmax(directed: bool) -> None:
    spec = GraphSpec(nodes=(Categorical(3),), edges=(Categorical(2),), directed=directed)
    of = distribution(spec, 3, restarts=2, seed=5)
    samples = 20_000
    drawn = of.discrete(samples, Streams(1, 2))
    assert drawn.edges is not None
    edges = of.to_pairs(drawn.weight).view(2, samples, -1).mean(1)
    assert torch.allclose(edges, of.edge_probability, atol=0.016)
    nodes = drawn.nodes.view(2, samples, 3, 3).mean(1)
    assert torch.allclose(nodes, of.node_logits[0].softmax(-1), atol=0.016)
    types = of.to_pairs(drawn.edges).view(2, samples, -1, 2).mean(1)
    assert torch.allclose(types, of.edge_feature_logits[0].softmax(-1), atol=0.016)


def test_discrete_edges_are_independent_of_each_other() -> None:
    of = edges_only([[0.0, 0.0, 0.0]], 3)
    drawn = of.to_pairs(of.discrete(20_000, Streams(0, 1)).weight)
    off_diagonal = torch.corrcoef(drawn.t()) - torch.eye(3, dtype=torch.double)
    assert off_diagonal.abs().max() < 0.03


@EXAMPLES
@given(spec=specs(), seed=st.integers(0, 1000))
def test_the_mode_has_the_highest_log_probability(spec: GraphSpec, seed: int) -> None:
    of = distribution(spec, 3, restarts=2, seed=seed)
    best = of.log_probability(of.mode())
    others = of.log_probability(of.discrete(50, Streams(seed, 2)))
    assert best.shape == (2, 1)
    assert (others <= best + 1e-9).all()


def test_mode_by_hand() -> None:
    of = edges_only([[0.1, -0.1, 2.0]], 3)
    assert of.mode().weight[0].tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    spec = GraphSpec(nodes=(Categorical(3), Continuous(1, -1.0, 3.0)), edges=(Categorical(2),))
    of = GraphDistribution(
        spec,
        2,
        torch.tensor([[1.0]]),
        (torch.tensor([[[0.1, 0.3, 0.2], [5.0, 0.0, 0.0]]]), torch.tensor([[[0.0], [2.0]]])),
        (torch.tensor([[[-1.0, -0.5]]]),),
    )
    mode = of.mode()
    assert mode.nodes[0, 0].tolist() == pytest.approx([0, 1, 0, 1.0])
    assert mode.nodes[0, 1].tolist() == pytest.approx([1, 0, 0, -1 + 4 * stretched(2.0)])
    assert mode.edges is not None
    assert mode.edges[0, 0, 1].tolist() == mode.edges[0, 1, 0].tolist() == [0, 1]


def test_directed_weights_are_target_first() -> None:
    of = edges_only([[3.0, -3.0, -3.0, -3.0, -3.0, -3.0]], 3, directed=True)
    data = of.mode().to_data_list()[0]
    assert data.edge_index.tolist() == [[1], [0]]


# --- log-probability ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "coloured", "rich", "directed"])
def test_log_probability_is_that_of_torch_distributions(name: str) -> None:
    spec = SPECS[name]
    of = distribution(spec, 4, restarts=2, seed=3)
    drawn = of.discrete(5, Streams(2, 2))
    ours = [latent.clone().requires_grad_() for latent in of.latents()]
    theirs = [latent.clone().requires_grad_() for latent in of.latents()]
    found = of.with_latents(ours).log_probability(drawn)
    present = of.to_pairs(drawn.weight).view(2, 5, -1)
    expected = (
        torch.distributions.Bernoulli(logits=theirs[0].unsqueeze(1)).log_prob(present).sum(-1)
    )
    parts = [(spec.nodes, drawn.nodes, 1)]
    if drawn.edges is not None:
        parts.append((spec.edges, of.to_pairs(drawn.edges), 1 + len(spec.nodes)))
    for blocks, values, first in parts:
        columns = split_blocks(values.view(2, 5, *values.shape[1:]), blocks)
        for i, (block, value) in enumerate(zip(blocks, columns, strict=True)):
            if isinstance(block, Categorical):
                choice = torch.distributions.Categorical(logits=theirs[first + i].unsqueeze(1))
                expected = expected + choice.log_prob(value.argmax(-1)).sum(-1)
    assert found.shape == (2, 5)
    assert torch.allclose(found, expected)
    direction = torch.linspace(-1, 1, 10, dtype=torch.double).view(2, 5)
    gradients = torch.autograd.grad((found * direction).sum(), ours, allow_unused=True)
    references = torch.autograd.grad((expected * direction).sum(), theirs, allow_unused=True)
    for one, other in zip(gradients, references, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.allclose(one, other)


def test_probabilities_of_all_graphs_sum_to_one() -> None:
    of = distribution(COLOURED, 3, seed=8)
    assert float(of.log_probability(every_graph(3, COLOURED)).exp().sum()) == pytest.approx(1.0)


def test_jittered_numbers_have_a_normal_density_in_their_latents() -> None:
    spec = GraphSpec(nodes=(Continuous(2, -1.0, 3.0), Continuous(1, 5.0, 5.0)))
    of = distribution(spec, 3, seed=1)
    drawn = of.discrete(4, Streams(6, 1), jitter=0.5)
    found = of.log_probability(drawn, jitter=0.5) - of.log_probability(drawn)
    latents = latent_of(spec.nodes[0], split_blocks(drawn.nodes, spec.nodes)[0])
    normal = torch.distributions.Normal(of.node_logits[0], 0.5)
    constant = normal.log_prob(of.node_logits[0]).sum()
    expected = normal.log_prob(latents).sum(dim=(-1, -2)) - constant
    assert torch.allclose(found[0], expected)
    assert (drawn.nodes[..., 2] == 5.0).all()


def test_without_jitter_numbers_do_not_vary() -> None:
    of = distribution(RICH, 3)
    still, moved = of.discrete(5, Streams(0, 1)), of.discrete(5, Streams(0, 1), jitter=0.5)
    assert still.nodes[:, :, 2].unique(dim=0).size(0) == 1
    assert moved.nodes[:, :, 2].unique(dim=0).size(0) == 5


@EXAMPLES
@given(
    latent=st.floats(-8, 8),
    low=st.floats(-5, 5),
    width=st.floats(0.1, 5),
)
def test_latent_of_undoes_the_squeeze(latent: float, low: float, width: float) -> None:
    block = Continuous(1, low, low + width)
    value = torch.tensor([low + width * stretched(latent)], dtype=torch.double)
    assert float(latent_of(block, value)) == pytest.approx(latent, abs=1e-4)


def stretched(latent: float) -> float:
    """The share of a range: a sigmoid that reaches its ends, 0.0001 before they would come."""
    return min(max((sigmoid(latent) - 1e-4) / (1 - 2e-4), 0.0), 1.0)


def test_values_at_a_bound_stay_there() -> None:
    """A flag comes back as 0 or 1, not as 0.0001 more or less."""
    block, flags = Continuous(1, 0.0, 1.0), torch.tensor([[[0.0], [1.0], [0.25]]])
    assert most_probable_values(block, latent_of(block, flags)).flatten().tolist() == pytest.approx(
        [0.0, 1.0, 0.25], abs=1e-6
    )
    beyond = torch.tensor([[[-50.0], [50.0]]])
    assert most_probable_values(block, beyond).flatten().tolist() == [0.0, 1.0]


# --- entropy --------------------------------------------------------------------------------------


def bits(*shares: float) -> float:
    return -sum(p * math.log2(p) for p in shares if p > 0)


def test_whole_numbers_are_whole_on_discrete_graphs_and_free_on_soft_ones() -> None:
    block = Continuous(2, (-1.0, -1.0), (1.0, 1.0), whole=(True, False))
    latent = torch.tensor([[[-0.4, -0.4], [2.5, 2.5]]])
    mode = most_probable_values(block, latent)
    assert mode[0, :, 0].tolist() == [0.0, 1.0]
    assert str(mode[0, 0, 0].item()) == "0.0"  # and not -0.0
    assert mode[0, :, 1].tolist() == pytest.approx([-0.197, 0.848], abs=1e-3)
    spec = GraphSpec(nodes=(block,), class_names=("a", "b"))
    made = GraphDistribution(spec, 2, torch.zeros(1, 1), (latent,), ())
    drawn = made.discrete(50, Streams(0, 1), jitter=1.0).nodes[..., 0]
    assert set(drawn.flatten().tolist()) <= {-1.0, 0.0, 1.0}
    assert made.relaxed(1, 1.0, Streams(0, 1)).nodes[0, 0, 0].item() == pytest.approx(
        -0.197, abs=1e-3
    )
    drawn = made.discrete(3, Streams(0, 1), jitter=1.0)
    other = GraphDistribution(spec, 2, torch.zeros(1, 1), (latent + torch.tensor([5.0, 0.0]),), ())
    # What was rounded has no density, so that where it was drawn from makes no difference.
    assert torch.equal(made.log_probability(drawn, 1.0), other.log_probability(drawn, 1.0))


def test_entropy_counts_bits_of_edges() -> None:
    of = edges_only([[0.0, 0.0, 100.0], [100.0, -100.0, 100.0], [math.log(3), -90.0, -90.0]], 3)
    assert of.entropy().tolist() == pytest.approx([2.0, 0.0, bits(0.25, 0.75)], abs=1e-9)


def test_entropy_counts_features_as_far_as_they_are_there() -> None:
    spec = GraphSpec(nodes=(Categorical(2), Continuous(1)), edges=(Categorical(4),))
    even = torch.zeros(1, 3, 2, dtype=torch.double)
    of = GraphDistribution(
        spec,
        3,
        torch.tensor([[80.0, -80.0, -80.0]], dtype=torch.double),
        (even, torch.zeros(1, 3, 1, dtype=torch.double)),
        (torch.zeros(1, 3, 4, dtype=torch.double),),
    )
    # Nodes 0 and 1 are there, each with one bit; so is one edge, with two; node 2 is not.
    assert float(of.entropy()) == pytest.approx(4.0)
    half = of.with_latents([torch.tensor([[0.0, -80.0, -80.0]]).double(), *of.latents()[1:]])
    assert float(half.entropy()) == pytest.approx(1.0 + 2 * 0.5 + 2 * 0.5)


def test_entropy_sees_a_node_at_either_end_of_a_directed_edge() -> None:
    logits = torch.full((1, 6), -80.0, dtype=torch.double)
    logits[0, 0] = 80.0  # from node 1 to node 0
    nodes = torch.zeros(1, 3, 2, dtype=torch.double)
    kinds = torch.tensor([[[90.0, 0.0]]], dtype=torch.double).expand(1, 6, 2)
    of = GraphDistribution(DIRECTED, 3, logits, (nodes,), (kinds,))
    assert float(of.entropy()) == pytest.approx(2.0)


@pytest.mark.parametrize("width", [1, 2, 6, 16, 17, 40])
def test_the_softmax_of_samples_is_the_softmax(width: int) -> None:
    logits = torch.randn(2, 3, 5, width, generator=torch.Generator().manual_seed(width))
    logits.requires_grad_()
    ours, plain = _softmax(logits), logits.softmax(dim=-1)
    assert torch.allclose(ours, plain, atol=1e-7)
    slope = torch.randn(ours.shape, generator=torch.Generator().manual_seed(1))
    (got,) = torch.autograd.grad(ours, logits, slope)
    (expected,) = torch.autograd.grad(plain, logits, slope)
    assert torch.allclose(got, expected, atol=1e-6)
