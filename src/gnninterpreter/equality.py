"""Values that hold tensors: they compare by what they hold, where ``==`` on tensors would raise.

Those whose tensors have a row for each of several things are changed row by row, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch_geometric.data import Data


class ByValue:
    """Base of dataclasses (made with ``eq=False``) that are equal where all their fields are."""

    def __eq__(self, other: object) -> bool:
        return _equal_fields(self, other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


Parts = TypeVar("Parts", bound="Alike")


class Alike:
    """Base of dataclasses whose fields are tensors, or batches of graphs, with as many rows.

    One that has other fields, too, has its own `each`.
    """

    def each(self: Parts, change: Callable[..., Any], *others: Parts) -> Parts:
        """Change all fields alike, with those of other values."""
        every = (self, *others)
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(*(change(*(getattr(one, name) for one in every)) for name in names))

    def select(self: Parts, rows: Any) -> Parts:
        """Some of the rows, by anything that indexes the first dimension but a number."""
        return self.each(lambda part: part[rows])

    def merged(self: Parts, rows: Tensor, some: Parts) -> Parts:
        """The same, but for some rows that others take the place of, one for each."""
        return self.each(lambda part, new: part.index_copy(0, rows, new), some)

    def where(self: Parts, mask: Tensor, other: Parts) -> Parts:
        """These rows where the mask is set, [B], the other ones elsewhere."""
        return self.each(lambda mine, its: torch.where(beside(mask, mine), mine, its), other)

    def to(self: Parts, device: torch.device | torch.dtype | str) -> Parts:
        """The same on another device, or in another floating-point type."""
        return self.each(lambda part: part.to(device))


def beside(mask: Tensor, values: Tensor) -> Tensor:
    """A mask of rows, [B], so that it goes with values [B, ...]."""
    return mask.view((-1,) + (1,) * (values.dim() - 1))


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal: tensors and graphs by their numbers, wherever they lie."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        a, b = one.detach().cpu(), other.detach().cpu()
        return bool(((a == b) | ((a != a) & (b != b))).all())
    if type(one) is not type(other):
        return bool(one == other)
    if isinstance(one, Data):
        return equal(one.to_dict(), other.to_dict())
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if is_dataclass(one) and not isinstance(one, type):
        return _equal_fields(one, other)
    return bool(one == other)


def _equal_fields(one: Any, other: Any) -> bool:
    names = [field.name for field in fields(one) if field.compare]
    return all(equal(getattr(one, name), getattr(other, name)) for name in names)
