"""The engine of everything that runs many jobs: one function, many items, results as they come.

Everybody may use it. `Processes` runs jobs on this machine; `gnninterpreter.sweep` has workers on a
Ray cluster. Nothing heavy is imported here; the processes limit torch themselves.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import Any, Generic, Protocol, TypeVar

from gnninterpreter.errors import SpecError

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers(Protocol):
    """Where jobs run."""

    @property
    def slots(self) -> int:
        """How many jobs to have under way."""

    def submit(self, function: Callable[[Any], Any], item: Any) -> Future[Any]:
        """Begin a job; its future gives what `call` returns, and raises only if a worker died."""

    def renew(self) -> None:
        """Go on after a future said that the workers are broken."""

    def close(self, at_once: bool) -> None:
        """End the workers, without waiting for what they do if ``at_once``."""


@dataclass(frozen=True)
class Outcome(Generic[Item, Result]):
    """What a job came to: a result, or the error of its last try."""

    item: Item
    result: Result | None = None
    error: Exception | None = None
    tries: int = 1


def run_jobs(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int | Workers = 1,
    retries: int = 0,
    keep: bool = False,
) -> Generator[list[Outcome[Item, Result]], None, None]:
    """Call a function on every item and give outcomes when they are there, all that are at a time.

    A job that fails, or whose worker died, is tried again so often, and does not stop the others.
    Whoever stops reading, by Ctrl-C or an error of their own, ends the workers at once; with
    ``keep`` they are left for more jobs when these are done. The function is one of a module, so
    that another process can import it; a number of workers stands for that many `Processes`.
    """
    where = Processes(workers) if isinstance(workers, int) else workers
    return _run(function, items, where, retries, keep)


def _run(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: Workers,
    retries: int,
    keep: bool,
) -> Generator[list[Outcome[Item, Result]], None, None]:
    waiting = deque((item, 1) for item in items)
    # Jobs of which one broke all workers; run alone, the guilty one is found.
    suspects: deque[tuple[Item, int]] = deque()
    running: dict[Future[Any], tuple[Item, int]] = {}
    at_once = True
    try:
        while waiting or suspects or running:
            slots = workers.slots
            while waiting and not suspects and len(running) < slots:
                item, tries = waiting.popleft()
                running[workers.submit(function, item)] = (item, tries)
            if suspects:
                item, tries = suspects.popleft()
                running[workers.submit(function, item)] = (item, tries)
            done = wait(running, return_when=FIRST_COMPLETED).done
            if any(isinstance(future.exception(), BrokenExecutor) for future in done):
                done = wait(running).done
                workers.renew()
            alone = len(done) == 1
            outcomes: list[Outcome[Item, Result]] = []
            for future in done:
                item, tries = running.pop(future)
                try:
                    result, error = future.result()
                except Exception as died:
                    result, error = None, died
                if isinstance(error, BrokenExecutor) and not alone:
                    suspects.append((item, tries))
                elif error is None:
                    outcomes.append(Outcome(item, result, tries=tries))
                elif tries <= retries:
                    waiting.appendleft((item, tries + 1))
                else:
                    outcomes.append(Outcome(item, error=error, tries=tries))
            if outcomes:
                yield outcomes
        at_once = False
    finally:
        if at_once or not keep:
            workers.close(at_once)


def call(function: Callable[[Item], Result], item: Item) -> tuple[Result | None, Exception | None]:
    """Call a function; an error is part of the answer, as one that can travel."""
    try:
        return function(item), None
    except SystemExit as error:  # would end whoever reads it
        return None, RuntimeError(f"SystemExit: {error}")
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # whatever a foreign error does when it is copied
            return None, RuntimeError(f"{type(error).__name__}: {error}")
        return None, error


class Processes:
    """Processes of this machine, which end with it, so many at a time with so many threads each.

    With one everything is done in this process, with its threads.
    """

    def __init__(self, count: int = 1, threads: int = 1) -> None:
        if count < 1:
            raise SpecError(f"jobs must be at least 1 (got {count})")
        self.slots = count
        self._threads = threads
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, function: Callable[[Any], Any], item: Any) -> Future[Any]:
        """Begin a job, or do it where there is only this process."""
        if self.slots == 1:
            done: Future[Any] = Future()
            done.set_result(call(function, item))
            return done
        if self._pool is None:
            # A forked child of a process with torch's threads can hang; a spawned one cannot.
            self._pool = ProcessPoolExecutor(
                self.slots, get_context("spawn"), initializer=_begin, initargs=(self._threads,)
            )
        try:
            return self._pool.submit(call, function, item)
        except BrokenExecutor as error:
            broken: Future[Any] = Future()
            broken.set_exception(error)
            return broken

    def renew(self) -> None:
        """Begin new processes with the next job."""
        self.close(at_once=True)

    def close(self, at_once: bool) -> None:
        """End the processes."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        # Python 3.14 has `terminate_workers` for this; before that there is no public way.
        running = list((pool._processes or {}).values())
        pool.shutdown(wait=not at_once, cancel_futures=at_once)
        if at_once:
            for process in running:
                process.terminate()
            for process in running:
                process.join()


def limit_threads(count: int) -> None:
    """Limit the threads of this process, those of torch among them, imported already or later.

    Explanation graphs are small, so that handing their tensors to several threads takes longer than
    the work itself.
    """
    if count < 1:
        raise SpecError(f"threads must be at least 1 (got {count})")
    os.environ["OMP_NUM_THREADS"] = str(count)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(count)


def _begin(threads: int) -> None:
    """Prepare a process: it ends on Ctrl-C without a word, and with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    limit_threads(threads)


def _end_with_parent() -> None:
    """Wait for the parent, which may be killed, and end: nobody would hear of results."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
