"""Tables of SMILES with labels, as laboratories keep them.

What cannot be read is told with its row and the reason, and the rest goes on.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.arguments import path_of, several
from gnninterpreter.chem.presets import Preset
from gnninterpreter.chem.recognition import preset_spec
from gnninterpreter.chem.smiles import from_smiles
from gnninterpreter.errors import DataError
from gnninterpreter.files import MOST_BYTES, read_file
from gnninterpreter.spec import GraphList, GraphSpec

LARGEST = 1e18
"""A label beyond this is none."""
MOST_TOLD = 5
MISSING = ("nan", "-nan", "+nan", "na", "n/a", "#n/a", "null")
"""What tables write for a label that is not there, in any case."""
SEPARATORS = (",", ";", "\t")
WORKBOOK = b"PK\x03\x04"


@dataclass(frozen=True)
class Refused:
    """A row that was left out: its number in the file (the header is row 1), and why."""

    row: int
    smiles: str
    reason: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.reason}"


@dataclass(frozen=True)
class SmilesTable:
    """Molecules read from a table.

    ``parted`` of them are in several parts, and stay so; ``alphabetic`` says that labels are words
    which were numbered by alphabet, since nobody said in which order the model has its classes.
    """

    graphs: GraphList
    refused: tuple[Refused, ...] = ()
    parted: int = 0
    alphabetic: bool = False

    @property
    def lines(self) -> list[str]:
        """What is to be said about the reading."""
        said = [f"{_counted(len(self.graphs), 'molecule')} read"]
        if self.refused:
            said.append(f"{_counted(len(self.refused), 'row')} left out")
            said += [f"  {one}" for one in self.refused[:MOST_TOLD]]
            if len(self.refused) > MOST_TOLD:
                said.append(f"  and {len(self.refused) - MOST_TOLD:,} more")
        if self.parted:
            said.append(f"{self.parted:,} of them in several parts, and they stay so")
        if self.alphabetic:
            numbered = [f"{word} is {i}" for i, word in enumerate(self.graphs.class_names)]
            more = ", ..." * (len(numbered) > MOST_TOLD)
            said.append(
                f"labels are words, numbered by alphabet: {', '.join(numbered[:MOST_TOLD])}{more}; "
                "where the model has its classes in another order, give their names in that order"
            )
        return said


def read_smiles(
    path: str | Path,
    labels: str | Sequence[str],
    features: GraphSpec | Preset | str = "pyg",
    *,
    column: str | None = None,
    class_names: Sequence[str] | None = None,
) -> SmilesTable:
    """Read a table of SMILES and labels: CSV, with commas, semicolons or tabs, also gzipped.

    Args:
        path: The file; its first row names the columns.
        labels: The column of the label; several for a model with several labels, of which some may
            be missing.
        features: The spec of the graphs, or the featuriser that makes them.
        column: The column of the SMILES; the one called so, or the only one with the word in its
            name, when omitted.
        class_names: Where labels are words: the words, in the order of the model's outputs. Those
            of the spec, or else the order of the alphabet, when omitted.

    Raises:
        DataError: If the file, a column or every label is missing, or no molecule can be read.
    """
    path = path_of("path", path, DataError)
    wanted = [labels] if isinstance(labels, str) else several("labels", labels, "columns")
    if not wanted:
        raise DataError("labels must name at least one column (got none)")
    table = _Table.read(path)
    place = table.smiles() if column is None else table.column(column)
    places = [table.column(name) for name in wanted]
    names = [table.names[one] for one in places]
    words = _words(table, places[0]) if len(places) == 1 else []
    ordered = _ordered(words, names[0], class_names, features)

    kept: list[tuple[Data, list[float]]] = []
    refused: list[Refused] = []
    for number, row in table.rows.items():
        text = _cell(row, place)
        written = [_cell(row, one) for one in places]
        try:
            if not any(written):
                raise DataError("no label")
            if words:
                label = [float(ordered.index(written[0]))]
            else:
                label = [table.value(*one) for one in zip(written, names, strict=True)]
            graph = from_smiles(text, features)
        except DataError as error:
            refused.append(Refused(number, text, str(error)))
            continue
        graph.smiles = text
        kept.append((graph, label))
    if not kept:
        if all(one.reason == "no label" for one in refused):
            raise DataError(f"every label in {', '.join(names)} of {path} is missing")
        raise DataError(f"no molecule in {path} can be read; {refused[0]}")

    graphs = GraphList(graph for graph, _ in kept)
    for graph, y in zip(graphs, _tensors([label for _, label in kept]), strict=True):
        graph.y = y
    classes = tuple(names) if len(names) > 1 else tuple(ordered)
    graphs.name = path.name.split(".")[0]
    graphs.class_names = classes or None
    if isinstance(features, GraphSpec):
        graphs.spec = features
    else:
        graphs.spec = preset_spec(features, graphs, classes)
    parted = sum("." in graph.smiles for graph in graphs)
    return SmilesTable(graphs, tuple(refused), parted, bool(words) and ordered is words)


class _Table(NamedTuple):
    """Cells by row below the names of the columns; ``comma`` whether numbers may be 1,5."""

    path: Path
    names: list[str]
    rows: dict[int, list[str]]
    comma: bool

    @classmethod
    def read(cls, path: Path) -> _Table:
        try:
            text = _content(path).decode("utf-8-sig").lstrip()
            separator = max(SEPARATORS, key=text.partition("\n")[0].count)
            lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
        except UnicodeDecodeError as error:
            raise DataError(
                f"cannot read the table {path}, which is not UTF-8; save it as CSV in UTF-8"
            ) from error
        except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
            why = getattr(error, "strerror", None) or error
            raise DataError(f"cannot read the table {path} ({why})") from error
        rows = {number: row for number, row in enumerate(lines, start=1) if any(row)}
        names = rows.pop(1, [])
        if not rows:
            raise DataError(
                f"the table {path} has no rows below its first, which names the columns"
            )
        return cls(path, [name.strip() for name in names], rows, separator == ";")

    def column(self, name: Any) -> int:
        """The place of a column, by its name in any case."""
        if not isinstance(name, str):
            raise DataError(f"the name of a column must be text (got {name!r:.60})")
        lower = [own.lower() for own in self.names]
        for given, names in ((name.strip(), self.names), (name.strip().lower(), lower)):
            if names.count(given) > 1:
                raise DataError(
                    f"{self.path} has {names.count(given)} columns {name!r:.60}; rename all but one"
                )
            if given in names:
                return names.index(given)
        raise DataError(f"{self.path} has no column {name!r:.60}; it has {self._listed()}")

    def smiles(self) -> int:
        """The place of the SMILES, where the name of one column says so."""
        names = [name for name in self.names if "smiles" in name.lower()]
        exact = [name for name in names if name.lower() == "smiles"]
        if len(exact or names) != 1:
            raise DataError(
                f"{self.path} has {len(names) or 'no'} columns with 'smiles' in the name; say "
                f"which of {self._listed()} it is (--smiles-column, or column=)"
            )
        return self.column((exact or names)[0])

    def value(self, cell: str, name: str) -> float:
        """The number in a cell, NaN where there is none."""
        number = float("nan") if not cell else self.number(cell)
        if number is None:
            raise DataError(f"{name} is {cell!r:.40}, which is no number")
        if abs(number) > LARGEST:
            raise DataError(f"{name} is {cell:.40}, beyond {LARGEST:.0e}")
        return number

    def number(self, cell: str) -> float | None:
        """What a cell says as a number, if it does."""
        try:
            return float(cell.replace(",", ".") if self.comma else cell)
        except ValueError:
            return None

    def _listed(self) -> str:
        return ", ".join(self.names[:20])


def _content(path: Path) -> bytes:
    content = read_file(path, MOST_BYTES)
    if path.suffix == ".gz":
        content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"unpacked it has more than {MOST_BYTES:,} bytes")
    if content.startswith(WORKBOOK):
        raise ValueError("it is a workbook; save it as CSV")
    return content


def _cell(row: list[str], place: int) -> str:
    """What is written there; nothing where a row ends before."""
    text = " ".join(row[place].split()) if place < len(row) else ""
    return "" if text.lower() in MISSING else text


def _words(table: _Table, place: int) -> list[str]:
    """The labels that are words, by alphabet; none where most are numbers."""
    written = [cell for row in table.rows.values() if (cell := _cell(row, place))]
    words = [cell for cell in written if table.number(cell) is None]
    return sorted(set(written)) if 2 * len(words) > len(written) else []


def _ordered(
    words: list[str], column: str, given: Sequence[str] | None, features: Any
) -> list[str]:
    """The words in the order of the model's outputs, where somebody says so."""
    if not words:
        return words
    if given is not None:
        names = list(several("class_names", given, "names"))
        if other := [word for word in words if word not in names]:
            raise DataError(
                f"the labels in {column} are words, and {other[0]!r:.40} is not among the class "
                f"names ({', '.join(map(str, names))}); give all words in the order of the "
                "model's outputs"
            )
        return names
    own = list(features.class_names) if isinstance(features, GraphSpec) else []
    return own if set(words) <= set(own) else words


def _tensors(rows: list[list[float]]) -> list[Tensor]:
    """Labels as tensors: whole numbers from 0 on are classes."""
    classes = all(len(row) == 1 and row[0] >= 0 and row[0] == round(row[0]) for row in rows)
    if classes:
        return [torch.tensor([int(row[0])]) for row in rows]
    return [torch.tensor([row] if len(row) > 1 else row) for row in rows]


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
