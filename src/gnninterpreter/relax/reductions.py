"""Reductions over sets whose members are only partly there.

A member with weight 1 counts fully, one with weight 0 not at all. The sum and the mean are
weighted. The maximum is its expectation when each member is present independently with its weight:
the multilinear extension of the maximum, exact where weights are 0 or 1, with a gradient for every
member and not only for the largest.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.utils import to_dense_batch

LARGEST_EXPONENT = 40.0
# Below this weight or degree nothing is there: what is divided by it would have an endless slope.
FAINT = 1e-12


def log_weight(weight: Tensor) -> Tensor:
    """Logarithm of weights, finite where a weight is exactly zero."""
    return weight.clamp_min(torch.finfo(weight.dtype).tiny).log()


def below_all(dtype: torch.dtype) -> float:
    """What stands for the score of a member that is not there at all.

    Below any score, however large: behind a norm over nodes that are all alike, the scores of
    absent ones may be anything. Yet finite, since infinities make NaN.
    """
    return torch.finfo(dtype).min / 2


def power(base: Tensor, exponent: float | Tensor) -> Tensor:
    """Power that is steep at zero, such as the inverse root of a degree, with a finite slope.

    The value is exact, infinite at zero included. The slope is zero where the base is so small that
    the true one would overflow: a node that is not there at all has degree zero, and layers that
    replace the infinite inverse by zero would still send NaN back through it.

    Example:
        >>> power(torch.tensor([0.0, 4.0]), -0.5)
        tensor([   inf, 0.5000])
    """
    if not base.requires_grad:
        return base.pow(exponent)
    gentle = base.abs() > FAINT
    sloped = torch.where(gentle, base, torch.ones_like(base)).pow(exponent)
    return torch.where(gentle, sloped, base.detach().pow(exponent))


def expected_max(values: Tensor, weight: Tensor, dim: int, empty: float = 0.0) -> Tensor:
    r"""Expected maximum of members present independently with probability ``weight``.

    With members sorted in descending order, :math:`E[\max] = \sum_k m_k w_k \prod_{l<k} (1 - w_l)`,
    plus ``empty`` times the probability that no member is present; 0 as in PyG.

    Example:
        >>> float(expected_max(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 0.5]), 0))
        2.0
    """
    ordered, order = values.sort(dim=dim, descending=True)
    return expected_first(ordered, weight.expand_as(values).gather(dim, order), dim, empty)


def expected_first(ordered: Tensor, share: Tensor, dim: int, empty: float = 0.0) -> Tensor:
    """Expected value of the first member present, of members in order; see `expected_max`."""
    # A member whose weight is exactly zero may hold anything, even an infinity.
    members = torch.where(share > 0, ordered, torch.zeros_like(ordered))
    parts = [part.movedim(dim, 0) for part in (members, share)]
    if dim in (-1, share.dim() - 1):  # where a member would be one number here and there
        parts = [part.contiguous() for part in parts]
    found: Tensor = _First.apply(*parts, empty)  # type: ignore[no-untyped-call]
    return found


class _First(torch.autograd.Function):
    """The first member that is present: this one or, where it is not, the first of the rest.

    From the last member to the first, so that nothing is divided by a chance, which may be 0.
    """

    @staticmethod
    def forward(ctx: Any, members: Tensor, share: Tensor, empty: float) -> Tensor:
        """Members and their chances along the first dimension."""
        rest = members.new_empty((members.size(0) + 1, *members.shape[1:]))
        rest[-1] = empty
        for k in reversed(range(members.size(0))):
            torch.lerp(rest[k + 1], members[k], share[k], out=rest[k])
        ctx.save_for_backward(members, share, rest)
        return rest[0].clone()

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, None]:
        """What reaches a member is what none before it has kept."""
        members, share, rest = ctx.saved_tensors
        of_members, of_share = torch.empty_like(members), members - rest[1:]
        for k in range(members.size(0)):
            of_share[k].mul_(slope)
            torch.mul(slope, share[k], out=of_members[k])
            slope = slope - of_members[k]
        return of_members, of_share, None


def grouped(values: Tensor, index: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Lay rows out by group, [size, most in a group, ...], with a mask of those that are real."""
    order = index.argsort(stable=True)
    members, mask = to_dense_batch(values[order], index[order], batch_size=size)
    return members, mask


def weighted_softmax_shares(
    scores: Tensor, weight: Tensor, index: Tensor, size: int, dim: int
) -> Tensor:
    r"""Attention of partly present members, *before* each is multiplied by its own weight.

    Returns :math:`e_j / \sum_l w_l e_l` with :math:`e = \exp(scores)`. The reduction that follows
    multiplies by :math:`w_j`, as every reduction does, which completes the weighted softmax. Where
    all members of a group are absent, or all but absent, the denominator is 1, so that the slope in
    their weights stays finite.
    """
    shape = [1] * scores.dim()
    shape[dim] = -1
    weight = weight.view(shape)
    target = index.view(shape).expand_as(scores)
    sizes = list(scores.shape)
    sizes[dim] = size
    with torch.no_grad():
        shifted = scores + log_weight(weight)
        shifted = shifted.masked_fill(weight <= 0, below_all(scores.dtype))
        most = weight.new_zeros(size).scatter_reduce_(0, index, weight.flatten(), "amax")
        alive = (most > FAINT).view(shape)
        there = torch.where(alive.index_select(dim, index), shifted, scores)
        peak = scores.new_zeros(sizes).scatter_reduce_(
            dim, target, there, "amax", include_self=False
        )
    # An absent member may have any score; the bound keeps it finite until its weight removes it.
    grown = (scores - peak.index_select(dim, index)).clamp_max(LARGEST_EXPONENT).exp()
    total = scores.new_zeros(sizes).scatter_add_(dim, target, grown * weight) + 1e-16
    total = torch.where(alive, total, torch.ones_like(total))
    return grown / total.index_select(dim, index)
