"""The table type of the studies: what was published, what we measure, and why they differ.

Written as CSV for machines, Markdown for people and JSON for both.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnninterpreter.datasets._storage import atomic_path

__all__ = ["Row", "Table", "Value"]

Extra = str | int | float | None


@dataclass(frozen=True)
class Value:
    """A figure, with its standard deviation where there is one.

    Example:
        >>> str(Value(0.986, 0.057)), str(Value(12))
        ('0.986 ± 0.057', '12')
    """

    mean: float
    std: float | None = None

    def __str__(self) -> str:
        if self.std is not None:
            return f"{_number(self.mean)} ± {_number(self.std)}"
        return _number(self.mean)


@dataclass(frozen=True)
class Row:
    """One comparison.

    Args:
        key: What it is about, one entry for each key column of the table.
        published: The paper's figure; None where it has none.
        ours: What we measure; None where it cannot be had.
        note: Why the two differ, or what to know.
        extra: Further columns.
    """

    key: tuple[str, ...]
    published: Value | None = None
    ours: Value | None = None
    note: str = ""
    extra: Mapping[str, Extra] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A table of comparisons.

    Args:
        name: Name of its files.
        title: What it shows.
        keys: Names of the key columns.
        rows: The comparisons.
        note: What holds for all of them.
    """

    name: str
    title: str
    keys: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""

    @property
    def columns(self) -> list[str]:
        """Names of all columns; empty ones are left out."""
        extra = list(dict.fromkeys(name for row in self.rows for name in row.extra))
        published = ["published"] if any(row.published for row in self.rows) else []
        note = ["note"] if any(row.note for row in self.rows) else []
        return [*self.keys, *published, "ours", *extra, *note]

    def cells(self, row: Row) -> list[str]:
        """The cells of a row as text, in the order of `columns`."""
        named: dict[str, str] = {
            **dict(zip(self.keys, row.key, strict=True)),
            "published": "" if row.published is None else str(row.published),
            "ours": "" if row.ours is None else str(row.ours),
            "note": row.note,
        }
        for name, value in row.extra.items():
            named[name] = _number(value) if isinstance(value, (int, float)) else str(value or "")
        return [named.get(column, "") for column in self.columns]

    def to_markdown(self) -> str:
        """The table for people."""
        head = "| " + " | ".join(self.columns) + " |"
        rule = "|" + "---|" * len(self.columns)
        body = ["| " + " | ".join(_escaped(c) for c in self.cells(row)) + " |" for row in self.rows]
        note = [f"\n{self.note}"] if self.note else []
        return "\n".join([f"## {self.title}\n", head, rule, *body, *note]) + "\n"

    def to_csv(self) -> str:
        """The table for spreadsheets; mean and standard deviation in columns of their own."""
        extra = list(dict.fromkeys(name for row in self.rows for name in row.extra))
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        figures = ["published", "published_std", "ours", "ours_std"]
        writer.writerow([*self.keys, *figures, *extra, "note"])
        for row in self.rows:
            pair = [
                part
                for value in (row.published, row.ours)
                for part in (("", "") if value is None else (value.mean, _blank(value.std)))
            ]
            writer.writerow([*row.key, *pair, *(_blank(row.extra.get(n)) for n in extra), row.note])
        return text.getvalue()

    def to_json(self) -> dict[str, Any]:
        """The table as plain JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "keys": list(self.keys),
            "note": self.note,
            "rows": [
                {
                    "key": list(row.key),
                    "published": _value_to_json(row.published),
                    "ours": _value_to_json(row.ours),
                    "note": row.note,
                    "extra": {name: _finite(value) for name, value in row.extra.items()},
                }
                for row in self.rows
            ],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Table:
        """Read what `to_json` wrote."""
        rows = tuple(
            Row(
                tuple(row["key"]),
                _value_from_json(row["published"]),
                _value_from_json(row["ours"]),
                row["note"],
                row["extra"],
            )
            for row in values["rows"]
        )
        return cls(values["name"], values["title"], tuple(values["keys"]), rows, values["note"])

    def write(self, folder: Path) -> list[str]:
        """Write the table in its three forms and return the names of the files."""
        document = json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n"
        names = []
        for ending, content in (
            ("csv", self.to_csv()),
            ("json", document),
            ("md", self.to_markdown()),
        ):
            with atomic_path(folder / f"{self.name}.{ending}") as temporary:
                temporary.write_text(content, encoding="utf-8")
            names.append(f"{self.name}.{ending}")
        return names


def _number(value: float) -> str:
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 10):
        return str(int(value))
    if not math.isfinite(value):
        return "none"
    size = abs(value)
    if size and size < 0.001:
        return f"{value:.1e}"
    return f"{value:.3f}" if size < 10 else f"{value:.1f}"


def _finite(value: Extra) -> Extra:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _blank(value: Extra) -> Extra:
    return "" if value is None else value


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def _value_to_json(value: Value | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"mean": _finite(value.mean), "std": _finite(value.std)}


def _value_from_json(values: Mapping[str, Any] | None) -> Value | None:
    if values is None:
        return None
    mean = math.nan if values["mean"] is None else float(values["mean"])
    return Value(mean, values["std"])
