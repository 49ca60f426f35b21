"""Training, validation and test parts: by class, at random, or by what graphs have in common."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.arguments import whole_number
from gnninterpreter.errors import DataError

SHARES = (0.1, 0.1)


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(whole_number("seed", seed, -(2**63), error=DataError))


@dataclass(frozen=True)
class Split:
    """Indices of the graphs of each part, each sorted."""

    train: Tensor
    validation: Tensor
    test: Tensor

    def __post_init__(self) -> None:
        sizes = [len(self.train), len(self.validation), len(self.test)]
        if min(sizes) == 0:
            raise DataError(
                f"{sum(sizes)} graphs are too few to split into training, validation and test "
                "parts; give at least ten of some class"
            )


def stratified_split(labels: Tensor, seed: int = 0, shares: tuple[float, float] = SHARES) -> Split:
    """Split graphs into 80% training, 10% validation and 10% test, class by class.

    Args:
        labels: Label of each graph, shape [graphs].
        seed: The same seed gives the same split.
        shares: Shares of the validation and the test part.

    Raises:
        DataError: If a part would be empty.
    """
    generator = _generator(seed)
    parts: tuple[list[Tensor], list[Tensor], list[Tensor]] = ([], [], [])
    for label in sorted(set(labels.tolist())):
        members = (labels == label).nonzero().flatten()
        members = members[torch.randperm(len(members), generator=generator)]
        held_out = [round(share * len(members)) for share in shares]
        sizes = [len(members) - sum(held_out), *held_out]
        for part, indices in zip(parts, members.split(sizes), strict=True):
            part.append(indices)
    return Split(*(torch.cat(part).sort().values for part in parts))


def grouped_split(groups: Tensor, seed: int = 0) -> Split:
    """Split graphs so that no group lies in two parts, which reach their shares to within a group.

    Groups larger than half of the test part are trained on; the others are dealt at random.
    """
    generator = _generator(seed)
    _, group, sizes = torch.unique(groups, return_inverse=True, return_counts=True)
    order = torch.randperm(len(sizes), generator=generator)
    order = order[(sizes[order] <= 0.5 * SHARES[1] * len(groups)).long().argsort(stable=True)]
    before = sizes[order].cumsum(0) - sizes[order]
    # Each group goes where its first graph would lie.
    bounds = torch.tensor([1 - sum(SHARES), 1 - SHARES[1]]) * len(groups)
    part = torch.empty_like(order)
    part[order] = torch.bucketize(before.float(), bounds, right=True)
    return Split(*((part[group] == place).nonzero().flatten() for place in range(3)))


def folds(labels: Tensor, count: int = 10, seed: int = 0) -> list[Tensor]:
    """Deal the graphs of each class to ``count`` parts, as even as they go; sorted indices."""
    generator = _generator(seed)
    members = [(labels == label).nonzero().flatten() for label in sorted(set(labels.tolist()))]
    order = torch.cat([part[torch.randperm(len(part), generator=generator)] for part in members])
    return [order[start::count].sort().values for start in range(count)]
