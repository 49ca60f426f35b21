"""Values of JSON files held against the annotations of a dataclass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from gnninterpreter.schema import Count, Known, Share, typed


@dataclass(frozen=True)
class Inner:
    share: Share
    name: str = "none"


@dataclass(frozen=True)
class Row:
    inner: Inner
    counts: list[Count]
    pair: tuple[float, float]
    values: tuple[Known, ...]
    either: float | str | None = None


WHOLE: dict[str, Any] = {
    "inner": {"share": 0.5, "name": "a"},
    "counts": [1, 2],
    "pair": [1.0, 2.0],
    "values": [1.0, None],
    "either": "text",
}


def test_every_field_is_read_by_its_type() -> None:
    row = typed(Row)(WHOLE, "row")
    assert row.inner == Inner(0.5, "a")
    assert (row.counts, row.pair, row.either) == ([1, 2], (1.0, 2.0), "text")
    assert row.values[0] == 1.0
    assert math.isnan(row.values[1])
    assert typed(Row)({k: v for k, v in WHOLE.items() if k != "either"}, "row").either is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inner": {"share": 1.5, "name": ""}}, r"row\.inner\.share must be a number from 0 to 1"),
        ({"inner": {"share": 0.5}}, r"row\.inner has no field 'name'"),
        ({"counts": [1, -2]}, r"row\.counts\[1\] must be a whole number of at least 0"),
        ({"pair": [1.0]}, r"row\.pair must have 2 entries \(got 1\)"),
        ({"values": ["1"]}, r"row\.values\[0\] must be a number"),
        ({"either": True}, r"row\.either must be a text \(got True\)"),
    ],
)
def test_what_does_not_fit_is_named_by_its_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        typed(Row)({**WHOLE, **changes}, "row")


def test_a_strict_one_wants_fields_with_a_default_too() -> None:
    with pytest.raises(ValueError, match="row has no field 'either'"):
        typed(Row, strict=True)({k: v for k, v in WHOLE.items() if k != "either"}, "row")
