"""The table in the documentation lists the models that are tested, no more and no fewer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.relax.cases import CASES
from tests.relax.refusals import REFUSALS

TABLE = Path(__file__).parents[2] / "docs" / "support.md"

pytestmark = pytest.mark.skipif(
    not TABLE.parent.is_dir(), reason="a source distribution has no docs"
)


def rows() -> list[list[str]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return [row for row in cells if row[0] not in ("Layer", "---")]


def of(row: str, columns: int) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in row.strip("|").split("|")[:columns])


def test_the_table_is_up_to_date() -> None:
    written = Counter(tuple(row[:3]) for row in rows())
    tested = Counter(of(entry.row, 3) for entry in (*CASES, *REFUSALS))
    assert written == tested, "docs/support.md is out of date: run docs/make_support_table.py"


def test_the_errors_in_the_table_are_within_the_limits() -> None:
    errors = [(float(row[3]), float(row[4])) for row in rows() if len(row) == 5]
    assert len(errors) == len(CASES)
    assert max(single for single, _ in errors) < 1e-4
    assert max(double for _, double in errors) < 1e-9


def test_no_two_models_have_the_same_name() -> None:
    names = Counter(str(entry) for entry in (*CASES, *REFUSALS))
    assert [name for name, count in names.items() if count > 1] == []
