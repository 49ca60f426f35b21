"""Work spread over processes: one function, many items, results as they come.

Everybody may use it. Nothing heavy is imported here; the processes limit torch themselves.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

from gnninterpreter.errors import SpecError

__all__ = ["map_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_processes(
    function: Callable[[Item], Result], items: Iterable[Item], jobs: int = 1
) -> Iterator[tuple[Item, Result]]:
    """Call a function on every item, in several processes, and give each result when it is there.

    An item that fails does not stop the others: the first error is raised when they are done.
    Whoever stops reading, by Ctrl-C or an error of their own, ends the processes at once.

    Args:
        function: A function of a module, so that another process can import it.
        items: Its arguments, one each.
        jobs: Processes at a time, each with one thread; with 1 everything is done in this process,
            with the threads it has.

    Returns:
        Each item with its result, in the order in which they are done.

    Raises:
        SpecError: If there is less than one process.
    """
    if jobs < 1:
        raise SpecError(f"jobs must be at least 1 (got {jobs})")
    listed = list(items)
    if jobs == 1 or len(listed) < 2:
        return _here(function, listed)
    return _elsewhere(function, listed, min(jobs, len(listed)))


def _here(function: Callable[[Item], Result], items: list[Item]) -> Iterator[tuple[Item, Result]]:
    failed: Exception | None = None
    for item in items:
        try:
            result = function(item)
        except Exception as error:  # noqa: PERF203 - raised below, when the others are done
            failed = failed or error
        else:
            yield item, result
    if failed is not None:
        raise failed


def _elsewhere(
    function: Callable[[Item], Result], items: list[Item], jobs: int
) -> Iterator[tuple[Item, Result]]:
    failed: BaseException | None = None
    # A forked child of a process that has used torch's threads can hang; a spawned one cannot.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin)
    try:
        waiting = {pool.submit(function, item): item for item in items}
        for future in as_completed(waiting):
            error = future.exception()
            if error is None:
                yield waiting[future], future.result()
            else:
                failed = failed or error
    except BaseException:
        _end(pool)
        raise
    pool.shutdown()
    if failed is not None:
        raise failed


def _begin() -> None:
    """Prepare a process: Ctrl-C ends it without a word, and torch has one thread."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes without waiting for what they are doing."""
    # Python 3.14 has `terminate_workers` for this; before that there is no public way.
    running = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in running:
        process.terminate()
    for process in running:
        process.join()
