"""Several targets of one model: on a GPU some at a time, each in a thread of its own.

A GPU waits for the host to work out what comes next, and meanwhile does what another search asked
for. What a search comes to does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import Lock

import torch

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import Target
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search.callbacks import Callback, Snapshot
from gnninterpreter.search.memory import Plan
from gnninterpreter.search.recipe import Recipe
from gnninterpreter.search.result import SearchResult
from gnninterpreter.search.run import search

# Searches that keep a GPU busy; more of them only wait for the host.
AT_A_TIME = 3


def search_each(
    classifier: GraphClassifier,
    relaxed: RelaxedModel | None,
    statistics: ClassStatistics | None,
    wanted: Sequence[tuple[Target, Recipe]],
    restarts: int,
    seed: int,
    callbacks: tuple[Callback, ...] = (),
    memory: Plan | None = None,
    threads: int | None = None,
) -> Generator[SearchResult, None, None]:
    """Search for explanations of several targets, one result after the other.

    Args:
        classifier: As for `search`.
        relaxed: Likewise.
        statistics: Likewise.
        wanted: The targets, each with how to search for it.
        restarts: Number of searches for each, run as one batch.
        seed: Likewise.
        callbacks: Likewise; told of the target whose result is waited for. Where several run, one
            that returns True stops them all.
        memory: How restarts fit into memory.
        threads: Targets at a time; as many as keep a GPU busy and fit into memory when omitted, and
            one on a CPU.
    """
    device, at_once = classifier.device, None if memory is None else memory.at_once

    def one(target: Target, recipe: Recipe, listeners: tuple[Callback, ...]) -> SearchResult:
        here = torch.cuda.device(device) if device.type == "cuda" else nullcontext()
        with here, (relaxed or RelaxedModel(classifier)).session():
            asked = (target, recipe, restarts, seed, listeners, at_once)
            return search(classifier, relaxed, statistics, *asked)

    if threads is None:
        room = AT_A_TIME if memory is None else memory.limit // max(memory.bytes, 1)
        threads = 1 if device.type == "cpu" else max(1, min(AT_A_TIME, len(wanted), room))
    if threads == 1:
        for target, recipe in wanted:
            yield one(target, recipe, callbacks)
        return
    told = _Told(callbacks)
    with ThreadPoolExecutor(threads) as pool:
        found = [pool.submit(one, *asked, told.about(n)) for n, asked in enumerate(wanted)]
        try:
            for told.current, future in enumerate(found):
                yield future.result()
        finally:
            told.stopped = True
            for future in found:
                future.cancel()


class _Told:
    """Callbacks that are told of one of several searches; what they say goes for all.

    Attributes:
        current: Which one.
        stopped: Whether all are to stop.
    """

    def __init__(self, callbacks: tuple[Callback, ...]) -> None:
        self.callbacks, self.current, self.stopped = callbacks, 0, False
        self._lock = Lock()

    def about(self, number: int) -> tuple[Callback, ...]:
        """What a search is to call, if there is anyone to be told."""

        def look(snapshot: Snapshot) -> bool:
            with self._lock:
                if number == self.current and not self.stopped:
                    answers = [callback(snapshot) for callback in self.callbacks]
                    self.stopped = any(answers)
            return self.stopped

        return (look,) if self.callbacks else ()
