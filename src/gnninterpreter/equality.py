"""Values that hold tensors compare by what they hold, where ``==`` on tensors would raise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import torch
from torch_geometric.data import Data


class ByValue:
    """Base of dataclasses (made with ``eq=False``) that are equal where all their fields are."""

    def __eq__(self, other: object) -> bool:
        return _equal_fields(self, other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


Parts = TypeVar("Parts", bound="Alike")


class Alike:
    """Base of dataclasses whose fields are tensors, or batches of graphs, with as many rows."""

    def each(self: Parts, change: Callable[..., Any], *others: Parts) -> Parts:
        """Change all fields alike, with those of other values."""
        every = (self, *others)
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(*(change(*(getattr(one, name) for one in every)) for name in names))


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
