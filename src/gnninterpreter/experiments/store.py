"""Results that are computed once: a call of a function, and the folder its value is kept in.

A value is kept under everything it depends on: the function's code and all code it imports, its
arguments, and what its module adds by ``depends_on`` (model, recipe, data). A file is written whole
or not at all, so that a killed run loses only what was under way, and several processes may share a
folder.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from gnninterpreter.files import atomic_path, finite, read_json
from gnninterpreter.fingerprints import code_fingerprint, digest_of, versions
from gnninterpreter.parallel import Workers, run_jobs

PACKAGE = "gnninterpreter.experiments"

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Computation:
    """A call of a function of `gnninterpreter.experiments`, whose value is plain JSON.

    The module's name begins below `gnninterpreter.experiments`; arguments are in the order of their
    names. Only the order of work depends on the cost, the seconds expected on one core.
    """

    module: str
    function: str
    arguments: tuple[tuple[str, Any], ...]
    cost: float = field(default=1.0, compare=False)

    @property
    def name(self) -> str:
        """A short line for people."""
        return f"{self.function}: " + ", ".join(f"{k}={v}" for k, v in self.arguments)

    def inputs(self) -> dict[str, Any]:
        """Everything the value depends on but the versions of libraries, as JSON values."""
        given = dict(self.arguments)
        return {
            "function": f"{self.module}.{self.function}",
            "arguments": json.loads(json.dumps(given)),
            "code": code_fingerprint(f"{PACKAGE}.{self.module}"),
            **self._imported().depends_on(self.function, given),
        }

    def compute(self) -> Any:
        """Do the work and return its value."""
        return finite(getattr(self._imported(), self.function)(**dict(self.arguments)))

    def _imported(self) -> Any:
        return importlib.import_module(f"{PACKAGE}.{self.module}")


@dataclass(frozen=True)
class Store:
    """Values of computations, one JSON file each.

    With ``any_version`` values count that were computed with other versions of Python, torch and
    the like than are installed here.
    """

    folder: Path
    any_version: bool = False

    def path(self, work: Computation) -> Path:
        """The file of a computation."""
        digest = digest_of([json.dumps(work.inputs(), sort_keys=True).encode()])
        named = [str(value) for _, value in work.arguments if isinstance(value, str)]
        words = "-".join([work.function, *named]).replace(" ", "_")
        return self.folder / f"{words}-{digest}.json"

    def read(self, work: Computation) -> Any:
        """The stored value; None where there is none."""
        try:
            record = read_json(self.path(work))
            if not self.any_version and record["versions"] != versions():
                return None
            return record["value"]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def fetch(self, work: Computation) -> Any:
        """The stored value, computed and stored first where there is none."""
        value = self.read(work)
        return self.write(work, _record(work)) if value is None else value

    def write(self, work: Computation, record: dict[str, Any]) -> Any:
        """Store what was computed, and return its value."""
        with atomic_path(self.path(work)) as temporary:
            temporary.write_text(json.dumps(record, allow_nan=False) + "\n", encoding="utf-8")
        return record["value"]

    def missing(self, wanted: Iterable[Computation]) -> list[Computation]:
        """Those whose values are not stored, each once, the dearest first."""
        absent = [work for work in dict.fromkeys(wanted) if self.read(work) is None]
        return sorted(absent, key=lambda work: -work.cost)

    def compute(
        self, wanted: Iterable[Computation], jobs: int | Workers = 1
    ) -> Iterator[tuple[Computation, Any]]:
        """Compute and store what is missing, several at a time, and give each when it is there.

        Workers need not see the folder: what they computed is written here.
        """
        records = map_jobs(_record, self.missing(wanted), jobs)
        return ((work, self.write(work, record)) for work, record in records)


def map_jobs(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int | Workers = 1
) -> Generator[tuple[Item, Result], None, None]:
    """`run_jobs` that are not meant to fail: the first error is raised after the others."""
    batches = run_jobs(function, items, workers)

    def results() -> Generator[tuple[Item, Result], None, None]:
        failed: Exception | None = None
        # Whoever closes this one means the workers, and Python 3.13 would leave that for later.
        with closing(batches):
            for outcome in chain.from_iterable(batches):
                if outcome.error is None:
                    yield outcome.item, outcome.result  # type: ignore[misc]
                failed = failed or outcome.error
        if failed is not None:
            raise failed

    return results()


def _record(work: Computation) -> dict[str, Any]:
    """Compute a value, with what it depends on and what it took."""
    started, cpu = time.perf_counter(), time.process_time()
    value = work.compute()
    return {
        "inputs": work.inputs(),
        "versions": versions(),
        "seconds": round(time.perf_counter() - started, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "value": value,
    }
