"""Results of a sweep: a folder of Parquet parts, each there whole or not at all.

One driver writes, anybody may read, also while it runs: ``pandas.read_parquet(folder)`` or
`read_results`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnninterpreter.arguments import path_of
from gnninterpreter.errors import CheckpointError, OutputError, needs
from gnninterpreter.files import read_file, write_atomically, writing

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = {
    "key": "string", "status": "string", "kind": "string", "model": "string", "target": "string",
    "seed": "int64", "restarts": "int32", "recipe": "string", "probability": "float64",
    "best_probability": "float64", "certain": "float64", "nodes": "int32", "edges": "int32",
    "typicality": "float64", "coverage": "float64", "lift": "float64", "verdict": "string",
    "level": "string", "high": "int32", "medium": "int32", "low": "int32", "error": "string",
    "tries": "int32", "seconds": "float64", "cpu_seconds": "float64", "host": "string",
    "process": "int64", "finished": "timestamp[ms, tz=UTC]", "result": "string",
}  # fmt: skip
"""Columns with their types: the job, its state, figures, what it took, and all else as JSON."""
PART = "part-{:06d}.parquet"
# More parts than this become one before a sweep goes on.
MANY = 64


def read_results(folder: str | Path) -> pa.Table:
    """Read what a sweep has come to so far, a row for each job, with the columns of `COLUMNS`.

    ``.to_pandas()`` makes a data frame of the table.

    Raises:
        CheckpointError: If a part cannot be read.
    """
    return Results(path_of("folder", folder, CheckpointError)).table()


class Results:
    """The folder of a sweep, which is made with its first part."""

    def __init__(self, folder: Path) -> None:
        """Say where; nothing is read yet."""
        self.folder = folder
        self._last: int | None = None

    @contextlib.contextmanager
    def only_writer(self) -> Iterator[None]:
        """Make sure that one process at a time writes; a killed one leaves nothing behind."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.folder / ".writer", os.O_CREAT | os.O_RDWR, 0o644)
        try:
            with contextlib.suppress(ImportError):  # Only POSIX has it.
                import fcntl

                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise OutputError(
                        f"another run is writing to {self.folder}; wait for it, or choose "
                        "another folder"
                    ) from None
            yield
        finally:
            os.close(handle)

    def parts(self) -> list[Path]:
        """The files there are, oldest first."""
        return sorted(
            self.folder.glob("part-*.parquet"), key=lambda path: (len(path.name), path.name)
        )

    def add(self, rows: Sequence[dict[str, Any]]) -> Path:
        """Write rows as a part of their own."""
        return self._write(_arrow().Table.from_pylist(list(rows), schema=_schema()))

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows, the last one of each job."""
        wanted = list(COLUMNS if columns is None else dict.fromkeys(("key", *columns)))
        try:
            tables = [self._read(path, wanted) for path in self.parts()]
        except FileNotFoundError:  # Parts became one meanwhile, which is there by now.
            tables = [self._read(path, wanted) for path in self.parts()]
        if not tables:
            return _schema(wanted).empty_table()
        table = _arrow().concat_tables(tables)
        last = {key: place for place, key in enumerate(table["key"].to_pylist())}
        return table if len(last) == table.num_rows else table.take(sorted(last.values()))

    def _read(self, path: Path, columns: list[str]) -> pa.Table:
        pa = _arrow()
        import pyarrow.parquet as pq

        try:
            part = pq.read_table(
                pa.BufferReader(read_file(path)),
                columns=columns,
                schema=_schema(),
                page_checksum_verification=True,
            )
            part.validate(full=True)
        except FileNotFoundError:
            raise
        except (OSError, ValueError, pa.ArrowException) as error:
            why = str(error).partition("\n")[0]
            raise CheckpointError(f"{path} is no part of a sweep ({why}); take it out") from error
        return part

    def states(self) -> dict[str, str]:
        """The state of every job that is known, by key: ``"done"`` or ``"failed"``."""
        rows = self.table(["status"])
        return dict(zip(rows["key"].to_pylist(), rows["status"].to_pylist(), strict=True))

    def join(self, most: int = MANY) -> None:
        """Make one part of many; one that is killed in between leaves rows twice, read once."""
        parts = self.parts()
        if len(parts) > most:
            self._write(self.table())
            for path in parts:
                path.unlink(missing_ok=True)

    def _write(self, table: pa.Table) -> Path:
        import pyarrow.parquet as pq

        if self._last is None:  # Looked up once: there may be many.
            numbers = [path.stem.removeprefix("part-") for path in self.parts()]
            self._last = max((int(one) for one in numbers if one.isdecimal()), default=0)
        while (path := self.folder / PART.format(self._last + 1)).exists():
            self._last += 1
        sink = _arrow().BufferOutputStream()
        pq.write_table(
            table, sink, compression="zstd", write_statistics=False, write_page_checksum=True
        )
        content = sink.getvalue().to_pybytes()
        return write_atomically(path, content)


def _schema(names: Sequence[str] = tuple(COLUMNS)) -> pa.Schema:
    pa = _arrow()
    made = {"timestamp[ms, tz=UTC]": pa.timestamp("ms", tz="UTC")}
    return pa.schema(
        [(name, made.get(COLUMNS[name]) or pa.type_for_alias(COLUMNS[name])) for name in names]
    )


def _arrow() -> Any:
    with needs("pyarrow", "sweep", "a sweep"):
        import pyarrow
    return pyarrow
