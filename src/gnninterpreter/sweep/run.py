"""Running a sweep: what is stored is not done again, and each result is stored when it is there."""

from __future__ import annotations

import json
import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from gnninterpreter.errors import GNNInterpreterError, OutputError, SpecError
from gnninterpreter.files import finite
from gnninterpreter.parallel import Outcome, Workers, run_jobs
from gnninterpreter.sweep.jobs import Job, files_of, load_source, recipe_of
from gnninterpreter.sweep.results import COLUMNS, Results
from gnninterpreter.sweep.spec import ModelSource

DONE, FAILED = "done", "failed"


@dataclass(frozen=True)
class Tally:
    """How a sweep stands: all its jobs, those with a result, with an error, and done just now."""

    total: int
    done: int
    failed: int
    new: int = 0

    @property
    def left(self) -> int:
        """Jobs that are still to be done."""
        return self.total - self.done - self.failed


def pending(jobs: Iterable[Job], folder: Path, again: bool = False) -> tuple[list[Job], Tally]:
    """The jobs that are not stored yet, each once, and how the sweep stands.

    With ``again`` those that failed count as not stored.
    """
    wanted = {job.key: job for job in jobs}
    stored = Results(folder).states()
    states = {key: stored[key] for key in wanted if key in stored}
    if again:
        states = {key: state for key, state in states.items() if state == DONE}
    known = list(states.values())
    tally = Tally(len(wanted), known.count(DONE), known.count(FAILED))
    return [job for key, job in wanted.items() if key not in states], tally


def run_sweep(
    jobs: Iterable[Job],
    folder: Path,
    workers: int | Workers | Callable[[], Workers] = 1,
    *,
    retries: int = 2,
    timeout: float = 0.0,
    again: bool = False,
    keep: bool = False,
    tell: Callable[[Tally, list[dict[str, Any]]], None] = lambda tally, rows: None,
) -> Tally:
    """Do the jobs that are not stored yet, and store each result in the folder when it is there.

    May be killed at any point and called again: what is stored stays, and nothing stored is
    computed again, but with ``again`` what failed. A job that fails, takes more than ``timeout``
    seconds, or whose worker dies, is tried again ``retries`` times. A function in the place of
    workers makes them when there is something to do; with ``keep`` they are left for more jobs.
    ``tell`` is called with how it stands and the new rows.

    Raises:
        OutputError: If the folder cannot be written, is full, or another sweep writes to it.
    """
    results = Results(folder)
    with results.only_writer():
        results.join()
        waiting, tally = pending(jobs, folder, again)
        tell(tally, [])

        def store(rows: list[dict[str, Any]]) -> None:
            nonlocal tally
            now = datetime.now(timezone.utc)
            for row in rows:
                row["finished"] = now
            try:
                results.add(rows)
            except OutputError as error:
                raise OutputError(
                    f"{error} (what is stored stays: the same command goes on when there is room)"
                ) from error
            failed, new = sum(row["status"] == FAILED for row in rows), len(rows)
            done = tally.done + new - failed
            tally = Tally(tally.total, done, tally.failed + failed, tally.new + new)
            tell(tally, rows)

        hopeless = [_failed(job, job.broken, 1) for job in waiting if job.broken]
        if hopeless:
            store(hopeless)
        able = [job for job in waiting if not job.broken]
        if able:
            where = workers() if callable(workers) else workers
            work = partial(perform, timeout=timeout)
            with closing(run_jobs(work, able, where, retries, keep)) as batches:
                for batch in batches:
                    store([_row(outcome) for outcome in batch])
        results.join()
    return tally


def _row(outcome: Outcome[Job, dict[str, Any]]) -> dict[str, Any]:
    if outcome.result is not None:
        return {**outcome.result, "status": DONE, "error": None, "tries": outcome.tries}
    error = outcome.error
    plain = isinstance(error, GNNInterpreterError)
    said = str(error) if plain else f"{type(error).__name__}: {error}"
    return _failed(outcome.item, said, outcome.tries)


def _failed(job: Job, error: str | None, tries: int) -> dict[str, Any]:
    said = " ".join(str(error).split())
    return {**describe(job), "status": FAILED, "error": said, "tries": tries}


def perform(job: Job, timeout: float = 0.0) -> dict[str, Any]:
    """Do a job and return its row, without what the driver adds."""
    started, cpu = time.perf_counter(), time.process_time()
    with _limited(timeout):
        found = _explained(job) if job.kind == "explain" else _audited(job)
    result = found.pop("result")
    return {
        **describe(job),
        **found,
        "result": json.dumps(finite(result), allow_nan=False),
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu,
        "host": platform.node(),
        "process": os.getpid(),
    }


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise in the block after so many seconds; only POSIX can, and only where signals arrive."""
    here = threading.current_thread() is threading.main_thread()
    if not seconds or not here or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def describe(job: Job) -> dict[str, Any]:
    """What a row says of the job itself."""
    recipe = recipe_of(job)
    return {
        "key": job.key,
        "kind": job.kind,
        "model": job.source.name,
        "target": job.target,
        "seed": job.seed,
        "restarts": job.restarts,
        "recipe": recipe if isinstance(recipe, str) else recipe.name,
    }


@lru_cache(maxsize=2)  # Jobs of one model mostly follow each other in a worker.
def _loaded(kind: str, source: ModelSource, files: str) -> tuple[Any, Any, Any]:
    if files_of(kind, source) != files:  # or a result would be stored as that of something else
        raise SpecError(
            f"this package, the model {source.name} or the module that loads it is another on "
            f"{platform.node()}, or was changed since the sweep began; make them the same on all "
            "machines, and give the command again with --again"
        )
    return load_source(source)


def _asked(job: Job) -> tuple[tuple[Any, Any], dict[str, Any]]:
    """The model with its graphs, and what both `explain` and `audit` are told."""
    model, data, call = _loaded(job.kind, job.source, job.files)
    options = {name: getattr(job, name) for name in ("restarts", "seed", "device")}
    return (model, data), {**options, "recipe": recipe_of(job), "forward": call, "progress": False}


def _explained(job: Job) -> dict[str, Any]:
    from gnninterpreter.api import explain
    from gnninterpreter.interchange import graph_to_json

    subject, options = _asked(job)
    (one,) = explain(*subject, targets=[job.target], **options).to("cpu").values()
    result = {
        **one.summary(),
        "best": graph_to_json(one.best, one.spec),
        "cores": [core.to_json() for core in one.cores],
        "shortcuts": [shortcut.to_json() for shortcut in one.shortcuts],
    }
    result.pop("seconds")  # in a column of its own; all else is the same every time
    return {
        **{name: value for name, value in one.figures().items() if name in COLUMNS},
        "best_probability": one.mode_probability,
        "certain": sum(restart.certain for restart in one.restarts) / len(one.restarts),
        "level": one.verdict.level,
        "result": result,
    }


def _audited(job: Job) -> dict[str, Any]:
    from gnninterpreter.audit import audit

    subject, options = _asked(job)
    found = audit(*subject, hosts=job.hosts or 1, **options)
    result = found.to_json(with_graphs=False)
    result["numbers"] = {k: v for k, v in result["numbers"].items() if k != "seconds"}
    return {**found.counts(), "result": result}
