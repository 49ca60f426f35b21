"""Running a sweep: what is stored is not done again, and each result is stored when it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gnninterpreter.errors import GNNInterpreterError, OutputError
from gnninterpreter.parallel import Outcome, Workers, run_jobs
from gnninterpreter.sweep.jobs import Job
from gnninterpreter.sweep.results import Results
from gnninterpreter.sweep.work import describe, perform

DONE, FAILED = "done", "failed"


@dataclass(frozen=True)
class Tally:
    """How a sweep stands.

    Args:
        total: All its jobs.
        done: Those with a result.
        failed: Those with an error.
        new: Those of both that were done just now.
    """

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

    Args:
        jobs: All jobs.
        folder: Folder of the results.
        again: Whether those that failed count as not stored.
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
    again: bool = False,
    keep: bool = False,
    tell: Callable[[Tally, list[dict[str, Any]]], None] = lambda tally, rows: None,
) -> Tally:
    """Do the jobs that are not stored yet, and store each result when it is there.

    May be killed at any point and called again: what is stored stays, and nothing stored is
    computed again.

    Args:
        jobs: All jobs.
        folder: Folder of the results.
        workers: Where to run, or a function that makes them when there is something to do.
        retries: How often a job that failed, or whose worker died, is tried again.
        again: Whether to do those again that failed in an earlier run.
        keep: Leave the workers for more jobs when these are done; close them yourself.
        tell: Called with how it stands, and the new rows, whenever there are some.

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
            with closing(run_jobs(perform, able, where, retries, keep)) as batches:
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
