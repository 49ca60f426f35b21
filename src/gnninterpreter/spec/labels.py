"""What the labels of a data set look like, which together with the outputs tells a model's task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.errors import DataError

# More classes than this were never meant: such labels are numbers or faults.
MOST_CLASSES = 1000


@dataclass(frozen=True)
class Labels:
    """The labels of G graphs: [G, W] doubles, NaN where nothing was measured.

    ``integer``: they came as whole numbers; ``marked``: -1 stood for what was not measured.
    """

    values: Tensor
    integer: bool
    marked: bool = False

    @property
    def width(self) -> int:
        """Number of labels of a graph."""
        return self.values.size(1)

    @property
    def known(self) -> Tensor:
        """Those that were measured, in one row."""
        return self.values[~self.values.isnan()]

    @property
    def whole(self) -> bool:
        """Whether every label is a whole number."""
        return bool((self.known == self.known.round()).all())

    @property
    def flags(self) -> bool:
        """Whether every label is 0 or 1."""
        return bool(((self.known == 0) | (self.known == 1)).all())

    @property
    def one_hot(self) -> bool:
        """Whether each graph has exactly one of several flags, and none is missing."""
        exact = bool((self.values.sum(1) == 1).all())
        return self.width > 1 and self.flags and exact

    @property
    def classes(self) -> bool:
        """Whether they can be the numbers of classes: one whole number from 0 on."""
        low, high = float(self.known.min()), float(self.known.max())
        return self.width == 1 and self.whole and low >= 0 and high < MOST_CLASSES

    def __str__(self) -> str:
        low, high = float(self.known.min()), float(self.known.max())
        gaps = ", some missing" if bool(self.values.isnan().any()) else ""
        gaps += " (-1 read as missing)" if self.marked else ""
        if self.width > 1:
            kind = "0/1" if self.flags else f"{low:g} to {high:g}"
            return f"{self.width} labels a graph ({kind}{gaps})"
        kind = "whole numbers" if self.whole else "real numbers"
        return f"labels are {kind} from {low:g} to {high:g}{gaps}"


def read_labels(graphs: Sequence[Data]) -> Labels | None:
    """Read the field ``y`` of graphs; None where some have none, or rows of different lengths.

    Beside whole numbers from 0 on, -1 stands for what was not measured, as NaN does.

    Raises:
        DataError: If there are labels, and one is infinite or all of them are missing.
    """
    rows: list[Tensor] = []
    integer = True
    for graph in graphs:
        row = _row(graph.get("y"))
        if row is None or (rows and row.numel() != rows[0].numel()):
            return None
        integer = integer and not row.is_floating_point()
        rows.append(row)
    if not rows or not rows[0].numel():
        return None
    values = torch.stack([row.double() for row in rows])
    endless = values.isinf().any(1).nonzero()
    if endless.numel():
        raise DataError(
            f"labels in 'y' must be finite numbers (got an infinite one in graph "
            f"{int(endless[0])}); NaN stands for what was not measured"
        )
    known = values[~values.isnan()]
    counted = bool((known == known.round()).all() and (known >= -1).all() and (known == 0).any())
    marked = counted and bool((known == -1).any()) and (integer or len(rows[0]) > 1)
    if marked:
        values = values.masked_fill(values == -1, torch.nan)
    labels = Labels(values, integer, marked)
    if not labels.known.numel():
        raise DataError(
            "the labels in 'y' are all missing (NaN), so that nothing can be told from them; give "
            "graphs with labels, or leave 'y' out and pass task="
        )
    return labels


def _row(label: Any) -> Tensor | None:
    if label is None or isinstance(label, str):
        return None
    try:
        return torch.as_tensor(label).detach().cpu().reshape(-1)
    except (TypeError, ValueError, RuntimeError):
        return None
