from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.spec import Labels, read_labels

NAN = float("nan")


def labels(*values: Any) -> Labels | None:
    return read_labels([Data(y=value) for value in values])


def read(*values: Any) -> Labels:
    found = labels(*values)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0, 2, 1), "labels are whole numbers from 0 to 2"),
        ((0.0, 1.0), "labels are whole numbers from 0 to 1"),
        ((0.5, -1.25), "labels are real numbers from -1.25 to 0.5"),
        ((1.0, NAN), "labels are whole numbers from 1 to 1, some missing"),
        (([0.0, 1.0], [NAN, 1.0]), "2 labels a graph (0/1, some missing)"),
        (([0.5, 3.0], [1.0, 2.0]), "2 labels a graph (0.5 to 3)"),
    ],
)
def test_labels_are_said(values: tuple[Any, ...], said: str) -> None:
    assert str(read(*map(torch.tensor, values))) == said


def test_rows_have_any_shape() -> None:
    row = torch.tensor([[0.0, 1.0, NAN]])
    found = read(row, row.flatten())
    assert found.width == 3
    assert found.values.shape == (2, 3)
    assert found.known.tolist() == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("values", "classes"),
    [((0, 1), True), ((0.0, 3.0), True), ((-1, 1), False), ((0, 10**9), False), ((0.5, 1), False)],
)
def test_which_labels_may_be_classes(values: tuple[float, ...], classes: bool) -> None:
    assert read(*values).classes is classes


def test_one_hot_rows() -> None:
    assert read(torch.tensor([0, 1]), torch.tensor([1, 0])).one_hot
    assert not read(torch.tensor([1, 1]), torch.tensor([1, 0])).one_hot
    assert not read(torch.tensor([1.0, NAN]), torch.tensor([1.0, 0.0])).one_hot
    assert not read(torch.tensor(1), torch.tensor(1)).one_hot


@pytest.mark.parametrize(
    "values",
    [(), (0, None), (torch.zeros(2), torch.zeros(3)), ("a",), (torch.zeros(0),)],
    ids=["no graphs", "missing", "lengths", "text", "empty"],
)
def test_no_labels(values: tuple[Any, ...]) -> None:
    assert labels(*values) is None


def test_labels_that_are_all_missing_are_refused() -> None:
    with pytest.raises(DataError, match="are all missing"):
        labels(NAN, NAN)


def test_an_infinite_label_is_refused() -> None:
    with pytest.raises(DataError, match="an infinite one in graph 1"):
        labels(0.0, -float("inf"), 1.0)


def test_minus_one_beside_classes_or_flags_is_missing() -> None:
    flags = read(torch.tensor([-1, 1, 0]), torch.tensor([0, -1, 1]))
    assert flags.marked
    assert flags.flags
    assert flags.values.isnan().tolist() == [[True, False, False], [False, True, False]]
    assert read(torch.tensor(-1), torch.tensor(0), torch.tensor(2)).classes
    # Without a 0 it is one of two signs, and a number among numbers.
    assert not read(torch.tensor(-1), torch.tensor(1)).marked
    assert not read(torch.tensor(-1.0), torch.tensor(0.0), torch.tensor(0.5)).marked
