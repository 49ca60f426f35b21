"""A bench: classes of models explained from many seeds, one row each, in a file that grows by rows.

Needs torch and little else, so that it runs where nothing else is installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from gnninterpreter.errors import CheckpointError, OutputError
from gnninterpreter.experiments.store import Computation, Store
from gnninterpreter.experiments.subjects import fingerprint
from gnninterpreter.files import read_json, write_atomically
from gnninterpreter.fingerprints import versions
from gnninterpreter.parallel import Workers
from gnninterpreter.schema import listed, typed

if TYPE_CHECKING:
    import pandas as pd

CACHE = "cache"
Row = TypeVar("Row")
# How a summary is printed: tables by title, the heading of each column with its name and how it is
# written, and lines below.
Printed: TypeAlias = "tuple[dict[str, pd.DataFrame], dict[str, tuple[str, str]], list[str]]"


@dataclass(frozen=True)
class Bench(Generic[Row]):
    """What is measured, and how its rows lie in files.

    The kind is also the name of its package. A row is a dataclass; what was asked for is part of
    it. The function, in the module ``compute``, measures one configuration and returns the fields
    of a row under ``"row"``, and what else is to be stored. Costs are the seconds that a method is
    expected to take, where it is much more than others.
    """

    kind: str
    row: type[Row]
    function: str
    schema: int
    costs: Mapping[str, float] = field(default_factory=dict)

    def measure(
        self,
        configs: Iterable[Any],
        out: Path,
        jobs: int | Workers = 1,
        tell: Callable[[Row], None] | None = None,
        prepare: Callable[[str], Any] | None = None,
    ) -> tuple[list[Row], list[dict[str, Any]]]:
        """Measure what is not stored yet; give all rows asked for, and what was stored with each.

        Configs are dataclasses, whose fields are the function's arguments. The JSON file ``out`` is
        written anew after every row, which ``tell`` is called with; a foreign file is not
        overwritten. Every row ever measured is stored in the folder ``cache`` beside it, under
        everything it depends on. ``prepare`` is called once with the name of each model, before
        several processes want it.
        """
        if out.exists():
            self.read(out)  # A foreign file is not overwritten.
        if out.parent.exists() and not out.parent.is_dir():
            raise OutputError(f"{out} cannot be written: {out.parent} is a file")
        store = Store(out.parent / CACHE)
        wanted = [self._computation(asdict(config)) for config in configs]
        known = {work: store.read(work) for work in wanted}
        for name in dict.fromkeys(dict(w.arguments)["model"] for w in wanted if known[w] is None):
            if prepare is not None:
                prepare(name)
        rows = {work: self.row(**value["row"]) for work, value in known.items() if value}
        for work, value in store.compute(wanted, jobs):
            known[work], rows[work] = value, self.row(**value["row"])
            self.write([rows[work] for work in wanted if work in rows], out)
            if tell is not None:
                tell(rows[work])
        found = [rows[work] for work in wanted]
        self.write(found, out)
        return found, [known[work] for work in wanted]

    def write(self, rows: Sequence[Row], out: Path) -> None:
        """Write rows to their file, whole or not at all."""
        plain: list[Any] = [asdict(row) for row in rows]  # type: ignore[call-overload]
        content = {"schema": self.schema, "kind": self.kind, "versions": versions(), "rows": plain}
        write_atomically(out, json.dumps(content, indent=0).encode())

    def read(self, out: Path) -> list[Row]:
        """Read the rows of a file."""
        try:
            content = read_json(out)
            if content["kind"] != self.kind or content["schema"] != self.schema:
                raise KeyError("kind")
            rows: list[Row] = listed(typed(self.row))(content["rows"], "rows")
            return rows
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = f"no {error}" if isinstance(error, KeyError) else str(error)
            why = str(error.strerror) if isinstance(error, OSError) else why
            raise CheckpointError(
                f"{out} is not a file of {self.kind} rows ({why}); give another file"
            ) from error

    @staticmethod
    def depends_on(function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The model and its graphs, for the store."""
        return dict(fingerprint(arguments["model"]))

    def _computation(self, arguments: dict[str, Any]) -> Computation:
        cost = self.costs.get(arguments.get("method", ""), 1.0)
        given = tuple(sorted(arguments.items()))
        return Computation(f"{self.kind}.compute", self.function, given, cost)
