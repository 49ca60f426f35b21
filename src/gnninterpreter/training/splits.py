"""Training, validation and test parts that hold every class in the same proportion."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.errors import DataError

__all__ = ["Split", "folds", "stratified_split"]


@dataclass(frozen=True)
class Split:
    """Indices of the graphs of each part, each sorted."""

    train: Tensor
    validation: Tensor
    test: Tensor


def stratified_split(
    labels: Tensor, seed: int = 0, shares: tuple[float, float] = (0.1, 0.1)
) -> Split:
    """Split graphs into 80% training, 10% validation and 10% test, class by class.

    Args:
        labels: Label of each graph, shape [graphs].
        seed: The same seed gives the same split.
        shares: Shares of the validation and the test part.

    Raises:
        DataError: If a part would be empty.
    """
    generator = torch.Generator().manual_seed(seed)
    parts: tuple[list[Tensor], list[Tensor], list[Tensor]] = ([], [], [])
    for label in sorted(set(labels.tolist())):
        members = (labels == label).nonzero().flatten()
        members = members[torch.randperm(len(members), generator=generator)]
        held_out = [round(share * len(members)) for share in shares]
        sizes = [len(members) - sum(held_out), *held_out]
        for part, indices in zip(parts, members.split(sizes), strict=True):
            part.append(indices)
    train, validation, test = (torch.cat(part).sort().values for part in parts)
    if min(len(train), len(validation), len(test)) == 0:
        raise DataError(
            f"{len(labels)} graphs are too few to split into training, validation and test parts; "
            "give at least ten of some class"
        )
    return Split(train, validation, test)


def folds(labels: Tensor, count: int = 10, seed: int = 0) -> list[Tensor]:
    """Deal the graphs of each class to ``count`` parts, as even as they go.

    Args:
        labels: Label of each graph, shape [graphs].
        count: Number of parts.
        seed: The same seed gives the same parts.

    Returns:
        The sorted indices of each part; together they are all the graphs, each once.
    """
    generator = torch.Generator().manual_seed(seed)
    members = [(labels == label).nonzero().flatten() for label in sorted(set(labels.tolist()))]
    order = torch.cat([part[torch.randperm(len(part), generator=generator)] for part in members])
    return [order[start::count].sort().values for start in range(count)]
