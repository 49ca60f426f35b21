"""The table type of the studies: what was published, what we measure, and why they differ.

A pandas table underneath, written as CSV for machines, Markdown for people and JSON for both.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnninterpreter.errors import needs
from gnninterpreter.files import atomic_path

if TYPE_CHECKING:
    import pandas as pd

Extra = str | int | float | None


@dataclass(frozen=True)
class Value:
    """A figure, with its standard deviation where there is one."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Row:
    """One comparison by its key; the note says why figures differ, extras are more columns."""

    key: tuple[str, ...]
    published: Value | None = None
    ours: Value | None = None
    note: str = ""
    extra: Mapping[str, Extra] = field(default_factory=dict)

    def record(self, keys: Sequence[str]) -> dict[str, Extra]:
        """The row as named cells; mean and deviation have one each."""
        published, ours = self.published or Value(math.nan), self.ours or Value(math.nan)
        return {
            **dict(zip(keys, self.key, strict=True)),
            "published": published.mean,
            "published std": published.std,
            "ours": ours.mean,
            "ours std": ours.std,
            **self.extra,
            "note": self.note,
        }


@dataclass(frozen=True)
class Table:
    """A table of comparisons as `Row.record` names their cells; the note holds for all of them."""

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""

    @classmethod
    def of(
        cls, name: str, title: str, keys: Sequence[str], rows: Sequence[Row], note: str = ""
    ) -> Table:
        """Make a table of rows, whose keys have these names."""
        return cls(name, title, _frame([row.record(keys) for row in rows]), note)

    def to_markdown(self) -> str:
        """The table for people: deviations beside their means, no empty columns."""
        shown = self.frame.map(_text)
        for column in ("published", "ours"):
            spread = shown.pop(f"{column} std")
            shown[column] += spread.where(spread == "", " ± " + spread)
        shown["note"] = shown.pop("note")
        shown = shown.loc[:, (shown != "").any()]
        cells = [list(shown.columns), ["---"] * shown.shape[1], *shown.to_numpy().tolist()]
        lines = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in cells]
        body = "\n".join(f"| {line} |" for line in lines)
        return f"## {self.title}\n\n{body}\n" + (f"\n{self.note}\n" if self.note else "")

    def to_json(self) -> dict[str, Any]:
        """The table as plain JSON values."""
        rows = json.loads(self.frame.to_json(orient="records", double_precision=15))
        return {"name": self.name, "title": self.title, "note": self.note, "rows": rows}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Table:
        """Read what `to_json` wrote."""
        return cls(values["name"], values["title"], _frame(values["rows"]), values["note"])

    def write(self, folder: Path) -> list[str]:
        """Write the table in its three forms and return the names of the files."""
        contents = {
            "csv": self.frame.to_csv(index=False, lineterminator="\n"),
            "json": json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n",
            "md": self.to_markdown(),
        }
        for ending, content in contents.items():
            with atomic_path(folder / f"{self.name}.{ending}") as temporary:
                temporary.write_text(content, encoding="utf-8")
        return [f"{self.name}.{ending}" for ending in contents]


def _frame(records: Sequence[Mapping[str, Extra]]) -> pd.DataFrame:
    with needs("pandas", "experiments", "making tables"):
        import pandas as pd
    # As objects, whole numbers stay whole beside cells that are empty.
    return pd.DataFrame(list(records), dtype=object)


def _text(value: Extra) -> str:
    """A cell for people: whole numbers whole, others with three digits or so.

    Example:
        >>> [_text(value) for value in (0.9863, 929.0, 0.00042, 19.79, None)]
        ['0.986', '929', '4.2e-04', '19.8', '']
    """
    if value is None or isinstance(value, str):
        return value or ""
    if not math.isfinite(value):
        return ""
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 10):
        return str(int(value))
    size = abs(value)
    if size and size < 0.001:
        return f"{value:.1e}"
    return f"{value:.3f}" if size < 10 else f"{value:.1f}"
