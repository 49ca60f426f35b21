"""The operations that are weighed, one by one and in every spelling."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import SAGEConv, TransformerConv
from torch_geometric.utils import degree, scatter, softmax
from torch_geometric.utils import softmax as aliased

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.reductions import expected_max
from gnninterpreter.relax.relaxation import Relaxation, active_relaxation, softmax_replaced
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.testing import random_soft_graphs
from tests.relax.cases import per_target

SPEC = GraphSpec((Categorical(3, encoding="index"),), (Categorical(2, encoding="index"),))


@pytest.fixture
def candidates() -> Candidates:
    generator = torch.Generator().manual_seed(0)
    return Candidates(random_soft_graphs(SPEC, 2, 4, generator, dtype=torch.float64))


def edge_values(candidates: Candidates) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    count = candidates.edge_weight.numel()
    return torch.randn(count, 3, generator=generator, dtype=torch.float64)


def weighted_sum(candidates: Candidates, values: Tensor) -> Tensor:
    weight = per_target(candidates, candidates.edge_weight).unsqueeze(-1)
    return (weight * per_target(candidates, values)).sum(2).flatten(0, 1)


SUMS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "scatter_add_": lambda out, index, src: out.scatter_add_(0, index, src),
    "scatter_add": lambda out, index, src: out.scatter_add(dim=0, index=index, src=src),
    "torch.scatter_add": lambda out, index, src: torch.scatter_add(out, 0, index, src),
    "by keyword": lambda out, index, src: torch.scatter_add(input=out, dim=0, index=index, src=src),
    "index_add_": lambda out, index, src: out.index_add_(0, index[:, 0], src),
    "index_add": lambda out, index, src: out.index_add(0, index[:, 0], source=src),
    "torch.index_add": lambda out, index, src: torch.index_add(out, 0, index[:, 0], src),
    "scatter_reduce_": lambda out, index, src: out.scatter_reduce_(0, index, src, "sum"),
    "scatter_reduce": lambda out, index, src: out.scatter_reduce(0, index, src, reduce="sum"),
    "from dim -2": lambda out, index, src: out.scatter_add(-2, index, src),
    "PyG scatter": lambda out, index, src: scatter(src, index[:, 0], 0, out.size(0), "sum"),
}


@pytest.mark.parametrize("add", SUMS.values(), ids=SUMS)
def test_sums_over_edges_are_weighted(candidates: Candidates, add: Callable[..., Tensor]) -> None:
    values = edge_values(candidates)
    index = candidates.edge_index[1].unsqueeze(1).expand_as(values)
    out = torch.zeros(8, 3, dtype=torch.float64)
    with Relaxation(candidates).running():
        result = add(out, index, values)
    assert torch.allclose(result, weighted_sum(candidates, values), atol=1e-12)
    untouched = add(torch.zeros_like(out), index, values)
    assert not torch.allclose(result, untouched)


def test_sums_by_index_may_be_scaled(candidates: Candidates) -> None:
    values, index = edge_values(candidates), candidates.edge_index[1]
    with Relaxation(candidates).running():
        out = torch.ones(8, 3, dtype=torch.float64).index_add(0, index, values, alpha=2)
    assert torch.allclose(out, 1 + 2 * weighted_sum(candidates, values), atol=1e-12)


def test_in_place_sums_change_their_target(candidates: Candidates) -> None:
    values = edge_values(candidates)
    index = candidates.edge_index[1].unsqueeze(1).expand_as(values)
    out = torch.zeros(8, 3, dtype=torch.float64)
    with Relaxation(candidates).running():
        out.scatter_add_(0, index, values)
    assert torch.allclose(out, weighted_sum(candidates, values), atol=1e-12)


def test_sums_along_the_last_dimension(candidates: Candidates) -> None:
    values = edge_values(candidates).t()
    index = candidates.edge_index[1].expand_as(values)
    with Relaxation(candidates).running():
        out = torch.zeros(3, 8, dtype=torch.float64).scatter_add(-1, index, values)
    assert torch.allclose(out.t(), weighted_sum(candidates, values.t()), atol=1e-12)


def test_readouts_are_weighted_by_presence(candidates: Candidates) -> None:
    values = torch.randn(8, 3, dtype=torch.float64)
    presence = candidates.graphs.presence
    expected = (candidates.per_graph(values) * presence.unsqueeze(-1)).sum(1)
    with Relaxation(candidates).running():
        total = scatter(values, candidates.batch, 0, 2, "sum")
        copied = scatter(values, candidates.batch.clone(), 0, 2, "sum")
        mean = scatter(values, candidates.batch, 0, 2, "mean")
        count = degree(candidates.batch, 2, torch.float64)
    assert torch.allclose(total, expected, atol=1e-12)
    assert torch.allclose(copied, expected, atol=1e-12)
    assert torch.allclose(count, presence.sum(1))
    assert torch.allclose(mean, expected / presence.sum(1).clamp_min(1).unsqueeze(1), atol=1e-12)


def test_degrees_are_weighted_also_with_loops_behind(candidates: Candidates) -> None:
    loops = torch.arange(8)
    with Relaxation(candidates).running():
        plain = degree(candidates.edge_index[1], 8, torch.float64)
        counted = torch.bincount(candidates.edge_index[1], minlength=9)
        scaled = torch.bincount(candidates.edge_index[1], 2 * torch.ones(24, dtype=torch.float64))
        looped = degree(torch.cat([candidates.edge_index[1], loops]), 8, torch.float64)
    expected = candidates.adjacency().sum(2).flatten()
    assert torch.allclose(plain, expected)
    assert torch.allclose(counted[:8], expected)
    assert counted[8] == 0
    assert torch.allclose(scaled, 2 * expected)
    assert torch.allclose(looped, expected + 1)


@pytest.mark.parametrize("how", ["amax", "amin"])
@pytest.mark.parametrize("start", [None, -0.3, 0.3], ids=["alone", "from -0.3", "from 0.3"])
def test_extremes_are_expectations(candidates: Candidates, how: str, start: float | None) -> None:
    values = edge_values(candidates)
    index = candidates.edge_index[1].unsqueeze(1).expand_as(values)
    out = torch.full((8, 3), 0.0 if start is None else start, dtype=torch.float64)
    with Relaxation(candidates).running():
        result = out.scatter_reduce(0, index, values, how, include_self=start is not None)
    sign = 1 if how == "amax" else -1
    members = sign * per_target(candidates, values)
    weight = per_target(candidates, candidates.edge_weight).unsqueeze(-1)
    if start is not None:
        members = torch.cat([members, torch.full_like(members[:, :, :1], sign * start)], 2)
        weight = torch.cat([weight, torch.ones_like(weight[:, :, :1])], 2)
    expected = sign * expected_max(members, weight, 2).flatten(0, 1)
    assert torch.allclose(result, expected, atol=1e-12)


@pytest.mark.parametrize("nothing", [-torch.inf, torch.finfo(torch.float64).min])
def test_a_maximum_started_from_nothing(nothing: float) -> None:
    generator = torch.Generator().manual_seed(0)
    graphs = random_soft_graphs(SPEC, 1, 4, generator, dtype=torch.float64)
    weight = graphs.weight.clone()
    weight[0, 3], weight[0, :, 3] = 0, 0
    candidates = Candidates(DenseGraphs(SPEC, weight, graphs.nodes, graphs.edges))
    values, index = edge_values(candidates)[:, 0], candidates.edge_index[1]
    start = torch.full((4,), nothing, dtype=torch.float64)
    with Relaxation(candidates).running():
        result = start.scatter_reduce(0, index, values, "amax")
        plain = torch.zeros(4, dtype=torch.float64).scatter_reduce(
            0, index, values, "amax", include_self=False
        )
    assert torch.allclose(result[:3], plain[:3])
    assert result[3] == nothing


@pytest.mark.parametrize("include_self", [False, True])
def test_means_are_weighted(candidates: Candidates, include_self: bool) -> None:
    values = edge_values(candidates)
    index = candidates.edge_index[1].unsqueeze(1).expand_as(values)
    out = torch.full((8, 3), 5.0, dtype=torch.float64)
    with Relaxation(candidates).running():
        result = out.scatter_reduce(0, index, values, "mean", include_self=include_self)
    count = candidates.adjacency().sum(2).view(-1, 1) + include_self
    expected = (weighted_sum(candidates, values) + 5.0 * include_self) / count.clamp_min(1)
    assert torch.allclose(result, expected, atol=1e-12)


def test_other_reductions_are_left_alone(candidates: Candidates) -> None:
    values, index = torch.rand(5, dtype=torch.float64), torch.tensor([0, 1, 1, 0, 2])
    plain = scatter(values, index, reduce="sum")
    count = torch.ones(24, dtype=torch.long)
    with Relaxation(candidates).running():
        assert torch.equal(scatter(values, index, reduce="sum"), plain)
        # Whole numbers cannot be weighed; a model that needs them is caught by the probe.
        assert torch.equal(degree(candidates.edge_index[1], 8, torch.long), torch.full((8,), 3))
        product = torch.ones(8).scatter_reduce(0, candidates.edge_index[1], count.float(), "prod")
    assert torch.equal(product, torch.ones(8))


def test_attention_is_the_weighted_softmax(candidates: Candidates) -> None:
    scores, index = edge_values(candidates), candidates.edge_index[1]
    relaxation = Relaxation(candidates)
    with softmax_replaced(), relaxation.running():
        replaced = aliased_softmax()(scores, index, num_nodes=8)
        # A name the swap does not know runs step by step, to the same end.
        stepwise = aliased(scores, index, num_nodes=8)
    shifted = per_target(candidates, scores)
    shifted = shifted + per_target(candidates, candidates.edge_weight).log().unsqueeze(-1)
    weight = candidates.edge_weight.unsqueeze(-1)
    expected = shifted.softmax(2).flatten(0, 2)
    assert torch.allclose(replaced * weight, expected, atol=1e-9)
    assert torch.allclose(stepwise * weight, expected, atol=1e-9)


def aliased_softmax() -> Callable[..., Tensor]:
    return globals()["softmax"]


def test_softmax_is_replaced_where_it_was_imported_and_put_back() -> None:
    from torch_geometric.nn.conv import transformer_conv

    original = softmax
    with softmax_replaced():
        assert transformer_conv.softmax is not original
        assert globals()["softmax"] is not original
        with softmax_replaced():
            pass
        assert transformer_conv.softmax is not original
        # Without an active relaxation the stand-in behaves as the original.
        scores, index = torch.rand(4), torch.tensor([0, 0, 1, 1])
        assert torch.equal(transformer_conv.softmax(scores, index), original(scores, index))
    assert transformer_conv.softmax is original
    assert globals()["softmax"] is original


@pytest.mark.parametrize("alpha", [-0.5, -1.0])
def test_inverse_degrees_have_finite_slopes(alpha: float) -> None:
    inverses = {
        "pow": lambda d: d.pow(alpha),
        "pow_": lambda d: d.clone().pow_(alpha),
        "**": lambda d: d**alpha,
        "**=": lambda d: operator.ipow(d.clone(), alpha),
        "torch.pow": lambda d: torch.pow(d, alpha),
    }
    if alpha == -0.5:
        inverses |= {"rsqrt": lambda d: d.rsqrt(), "rsqrt_": lambda d: d.clone().rsqrt_()}
    else:
        inverses |= {"1 /": lambda d: 1.0 / d, "reciprocal": lambda d: d.reciprocal()}
    candidates = Candidates(random_soft_graphs(SPEC, 1, 4, torch.Generator().manual_seed(0)))
    for name, inverse in inverses.items():
        base = torch.tensor([0.0, 4.0], requires_grad=True)
        with Relaxation(candidates).running():
            value = inverse(base)
        assert value.tolist() == [torch.inf, 4.0**alpha], name
        (slope,) = torch.autograd.grad(value.masked_fill(value == torch.inf, 0).sum(), [base])
        assert slope.tolist() == pytest.approx([0.0, alpha * 4.0 ** (alpha - 1)]), name


def test_positive_and_varying_powers_are_left_alone(candidates: Candidates) -> None:
    base = torch.tensor([1.0, 2.0], requires_grad=True)
    with Relaxation(candidates).running():
        assert torch.equal(base.pow(2), torch.tensor([1.0, 4.0]))
        assert torch.equal(base.pow(base), torch.tensor([1.0, 4.0]))
        assert torch.equal(2 / base.detach(), torch.tensor([2.0, 1.0]))


def test_codes_are_soft_in_embeddings_and_one_hots(candidates: Candidates) -> None:
    table = torch.randn(5, 4, dtype=torch.float64)
    codes, types = candidates.data.x.view(-1), candidates.data.edge_type
    soft_nodes, soft_edges = candidates.graphs.nodes.flatten(0, 1), candidates.edge_features
    embed, one_hot = torch.nn.functional.embedding, torch.nn.functional.one_hot
    with Relaxation(candidates).running():
        assert torch.allclose(embed(codes, table), soft_nodes @ table[:3])
        assert embed(candidates.data.x, table).shape == (8, 1, 4)
        assert torch.allclose(embed(types, table), soft_edges @ table[:2])
        assert torch.allclose(embed(types.clone(), table), soft_edges @ table[:2])
        assert torch.equal(one_hot(types, 2), soft_edges)
        padded = one_hot(types, num_classes=4)
        assert torch.equal(padded[:, :2], soft_edges)
        assert not padded[:, 2:].any()
        # Other codes are none of the graph's.
        other = torch.tensor([0, 1])
        assert torch.equal(embed(other, table), table[:2])
        assert torch.equal(one_hot(other, 2), torch.eye(2, dtype=torch.long))


def test_relaxations_are_active_only_within() -> None:
    candidates = Candidates(random_soft_graphs(SPEC, 1, 4, torch.Generator().manual_seed(0)))
    outer, inner = Relaxation(candidates), Relaxation(candidates)
    assert active_relaxation() is None
    with outer.running():
        assert active_relaxation() is outer
        with inner.running():
            assert active_relaxation() is inner
        assert active_relaxation() is outer
        with pytest.raises(ZeroDivisionError), inner.running():
            raise ZeroDivisionError
        assert active_relaxation() is outer
    assert active_relaxation() is None


def test_layers_are_what_they_were_outside(candidates: Candidates) -> None:
    x = torch.randn(8, 3, dtype=torch.float64)
    for layer in (SAGEConv(3, 4).double(), TransformerConv(3, 4).double()):
        before = layer(x, candidates.edge_index)
        with softmax_replaced(), Relaxation(candidates).running():
            inside = layer(x, candidates.edge_index)
        assert torch.equal(layer(x, candidates.edge_index), before)
        assert not torch.allclose(inside, before)
