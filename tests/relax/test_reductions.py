from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from gnninterpreter.relax.reductions import (
    below_all,
    expected_max,
    grouped,
    log_weight,
    power,
    weighted_softmax_shares,
)


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def expectation_by_enumeration(values: Tensor, weight: Tensor, empty: float) -> float:
    """Sum over all subsets of the members, each with its probability."""
    total = 0.0
    for present in product((0, 1), repeat=values.numel()):
        chance = 1.0
        for share, here in zip(weight.tolist(), present, strict=True):
            chance *= share if here else 1 - share
        inside = [v for v, here in zip(values.tolist(), present, strict=True) if here]
        total += chance * (max(inside) if inside else empty)
    return total


def test_expected_max_by_hand() -> None:
    values, weight = torch.tensor([1.0, 3.0]), torch.tensor([1.0, 0.5])
    assert expected_max(values, weight, 0).item() == 2.0


@pytest.mark.parametrize("empty", [0.0, -2.5])
@pytest.mark.parametrize("seed", range(3))
def test_expected_max_is_the_expectation_over_all_subsets(seed: int, empty: float) -> None:
    values, weight = draw(5, seed=seed), draw(5, seed=seed + 10).sigmoid()
    expected = expectation_by_enumeration(values, weight, empty)
    assert expected_max(values, weight, 0, empty).item() == pytest.approx(expected, abs=1e-12)


def test_expected_max_is_the_maximum_where_weights_are_zero_or_one() -> None:
    values, weight = draw(6, 20), (draw(6, 20, seed=1) > 0).double()
    masked = values.masked_fill(weight == 0, -torch.inf).amax(0)
    assert torch.equal(expected_max(values, weight, 0), masked.nan_to_num(neginf=0.0))


def test_expected_max_passes_over_absent_infinities() -> None:
    values = torch.tensor([torch.inf, 2.0, -torch.inf])
    assert expected_max(values, torch.tensor([0.0, 1.0, 0.0]), 0).item() == 2.0


def test_expected_max_over_another_dimension() -> None:
    values, weight = draw(2, 4, 3), draw(2, 4, 1, seed=1).sigmoid()
    moved = expected_max(values.movedim(1, 0), weight.movedim(1, 0), 0)
    assert torch.allclose(expected_max(values, weight, 1), moved, atol=1e-15)


def test_expected_max_gives_every_member_a_gradient() -> None:
    values, weight = draw(5).requires_grad_(), draw(5, seed=1).sigmoid().requires_grad_()
    assert gradcheck(lambda v, w: expected_max(v, w, 0, -1.0), (values, weight))
    (slope,) = torch.autograd.grad(expected_max(values, weight, 0), [values])
    assert (slope > 0).all()
    assert slope.sum().item() == pytest.approx(1 - (1 - weight).prod().item())


def test_grouped_lays_rows_out_by_group() -> None:
    values = torch.arange(10.0).view(5, 2)
    members, real = grouped(values, torch.tensor([2, 0, 2, 2, 0]), 4)
    assert real.tolist() == [
        [True, True, False],
        [False, False, False],
        [True, True, True],
        [False, False, False],
    ]
    assert members[0, :2].tolist() == [[2.0, 3.0], [8.0, 9.0]]
    assert members[2].tolist() == [[0.0, 1.0], [4.0, 5.0], [6.0, 7.0]]
    assert not members[~real].any()


def test_grouped_is_differentiable() -> None:
    values = draw(5, 2).requires_grad_()
    index = torch.tensor([2, 0, 2, 2, 0])
    assert gradcheck(lambda v: grouped(v, index, 4)[0], (values,))


def test_grouped_of_nothing() -> None:
    members, real = grouped(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long), 2)
    assert members.shape == (2, 0, 3)
    assert real.shape == (2, 0)


def test_log_weight_is_finite_at_zero() -> None:
    logs = log_weight(torch.tensor([0.0, 0.5, 1.0]))
    assert logs.tolist() == pytest.approx([-87.33655, -0.6931472, 0.0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_nothing_is_below_what_stands_for_absence(dtype: torch.dtype) -> None:
    scores = torch.tensor([-1e30, below_all(dtype)], dtype=dtype)
    assert scores.softmax(0).tolist() == [1.0, 0.0]
    assert torch.isfinite(torch.full((2,), below_all(dtype), dtype=dtype).softmax(0)).all()


@pytest.mark.parametrize("exponent", [-0.5, -1.0, -2.0])
def test_power_has_the_value_and_where_it_can_the_slope_of_a_power(exponent: float) -> None:
    base = torch.tensor([0.5, 2.0, 7.0], dtype=torch.float64, requires_grad=True)
    assert torch.equal(power(base, exponent), base.pow(exponent))
    assert gradcheck(lambda b: power(b, exponent), (base,))


def test_power_keeps_negative_bases() -> None:
    base = torch.tensor([-2.0], dtype=torch.float64, requires_grad=True)
    assert power(base, -1.0).item() == -0.5
    assert gradcheck(lambda b: power(b, -1.0), (base,))


@pytest.mark.parametrize("tiny", [0.0, 1e-40, 1e-30])
def test_power_has_no_slope_where_that_would_overflow(tiny: float) -> None:
    base = torch.tensor([tiny, 1.0], requires_grad=True)
    value = power(base, -0.5)
    assert torch.equal(value.detach(), base.detach().pow(-0.5))
    (slope,) = torch.autograd.grad(value.nan_to_num(posinf=0.0).sum(), [base])
    assert slope.tolist() == [0.0, -0.5]


def test_roots_have_no_slope_at_zero_by_numbers_or_by_tensors() -> None:
    base, learned = torch.tensor([0.0, 4.0], requires_grad=True), torch.tensor([0.5])
    for exponent in (0.5, learned.requires_grad_()):
        value = power(base, exponent)
        assert value.tolist() == [0.0, 2.0]
        assert torch.autograd.grad(value.sum(), [base])[0].tolist() == [0.0, 0.25]
    (slope,) = torch.autograd.grad(power(base, learned).sum(), [learned])
    assert slope.item() == pytest.approx(2 * math.log(4))


INDEX = torch.tensor([0, 0, 0, 2, 2])


def test_softmax_shares_by_hand() -> None:
    scores, weight = draw(5), torch.tensor([1.0, 0.5, 0.0, 0.25, 1.0], dtype=torch.float64)
    shares = weighted_softmax_shares(scores, weight, INDEX, 3, 0)
    grown = scores.exp()
    for group in ([0, 1, 2], [3, 4]):
        total = (weight[group] * grown[group]).sum()
        assert torch.allclose(shares[group], grown[group] / total, atol=1e-12)
        assert (weight[group] * shares[group]).sum().item() == pytest.approx(1.0)


def test_softmax_shares_along_another_dimension() -> None:
    scores, weight = draw(2, 5), draw(5, seed=1).sigmoid()
    along = weighted_softmax_shares(scores, weight, INDEX, 3, 1)
    assert torch.allclose(along.t(), weighted_softmax_shares(scores.t(), weight, INDEX, 3, 0))


def test_softmax_shares_are_differentiable() -> None:
    scores, weight = draw(5, 2).requires_grad_(), draw(5, seed=1).sigmoid().requires_grad_()
    assert gradcheck(lambda s, w: weighted_softmax_shares(s, w, INDEX, 3, 0), (scores, weight))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("huge", [900.0, 3e4, 1e20])
def test_softmax_shares_survive_huge_scores_of_absent_members(
    dtype: torch.dtype, huge: float
) -> None:
    scores = torch.tensor([3.0, 1.0, huge, 5.0, 4.0], dtype=dtype)
    weight = torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0], dtype=dtype)
    shares = weighted_softmax_shares(scores, weight, INDEX, 3, 0) * weight
    assert torch.allclose(shares[:3], torch.tensor([0.880797, 0.119203, 0.0], dtype=dtype))


def test_softmax_shares_of_a_group_that_is_all_absent_have_a_slope() -> None:
    scores = torch.tensor([3.0, 1.0, 2.0, 5.0, 4.0], requires_grad=True)
    weight = torch.tensor([0.0, 0.0, 0.0, 1.0, 1.0], requires_grad=True)
    shares = weighted_softmax_shares(scores, weight, INDEX, 3, 0) * weight
    assert shares[:3].tolist() == [0.0, 0.0, 0.0]
    for slope in torch.autograd.grad(shares.sum(), [scores, weight]):
        assert torch.isfinite(slope).all()
        assert slope.abs().max() <= 1.0
