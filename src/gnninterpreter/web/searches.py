"""Explanations that form while somebody watches: started, followed, stopped and saved."""

from __future__ import annotations

import itertools
import math
import threading
import time
from typing import Any

from gnninterpreter.api import explain
from gnninterpreter.arguments import whole_number
from gnninterpreter.errors import DataError, GNNInterpreterError
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.models.frozen import clean_copy
from gnninterpreter.report.drawing import small_svg
from gnninterpreter.report.gallery import candidate_graph
from gnninterpreter.search import Recipe, Snapshot
from gnninterpreter.web.backend import Backend

MOST_RUNNING = 2
MOST_REMEMBERED = 50
# What may be asked for besides the target: what it is when omitted, the least and the most.
SETTINGS = {"restarts": (4, 1, 32), "iterations": (600, 1, 5000), "seed": (0, 0, 2**31 - 1)}
PICTURE = (360, 260)
PAUSE = 0.25


class BusyError(GNNInterpreterError):
    """As many explanations are running as may."""


class _AbandonedError(Exception):
    """The server ends: whatever the search is doing, nobody waits for it."""


class LiveSearch:
    """One explanation under way, what was seen so far, what came out, and where it was saved.

    Its state is ``"running"``, ``"done"``, ``"stopped"`` or ``"failed"``; snapshots are JSON values
    that are only ever appended to.
    """

    def __init__(self, number: int, name: str) -> None:
        """Nothing has been seen yet."""
        self.id = str(number)
        self.name = name
        self.state = "running"
        self.snapshots: list[dict[str, Any]] = []
        self.explanation: Explanation | None = None
        self.result: ExplanationSet | None = None
        self.error = ""
        self.saved = ""
        self.thread: threading.Thread | None = None
        self._drawn = -PAUSE
        self._stop = threading.Event()
        self._abandoned = False

    def stop(self, abandon: bool = False) -> None:
        """Ask it to end at its next snapshot, or to abandon what it has found, which is quicker."""
        self._abandoned = self._abandoned or abandon
        self._stop.set()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._stop.is_set()

    def watch(self, snapshot: Snapshot) -> bool:
        """Take in how the search stands; True ends it, whatever its phase."""
        if self._abandoned:
            raise _AbandonedError
        score = snapshot.score
        best = int(score.nan_to_num(nan=-1.0).argmax())
        self.snapshots.append(
            {
                "phase": snapshot.phase,
                "iteration": snapshot.iteration,
                "iterations": snapshot.iterations,
                "score": [_number(s, 4) for s in score.tolist()],
                "edges": [_number(e, 2) for e in snapshot.edges.tolist()],
                "best": best,
                "svg": self._picture(snapshot, best),
            }
        )
        return self.stopping

    def _picture(self, snapshot: Snapshot, best: int) -> str | None:
        """The best graph, but no more often than an eye can follow: drawing holds up the search."""
        now = time.monotonic()
        if self.stopping or now - self._drawn < PAUSE:
            return None
        self._drawn = now
        graph = candidate_graph(snapshot.distribution.select([best]).mode(), 0)
        return small_svg(graph, snapshot.distribution.spec, PICTURE)


class LiveSearches:
    """All explanations that one server has started."""

    def __init__(self, backend: Backend) -> None:
        """Nothing runs yet."""
        self._backend = backend
        self._searches: dict[str, LiveSearch] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def start(self, values: Any) -> LiveSearch:
        """Start to explain ``{"target": ..., "restarts": ..., "iterations": ..., "seed": ...}``.

        All but the first may be left out.

        Raises:
            GNNInterpreterError: If a value has to be mended, or too many are running.
        """
        if not isinstance(values, dict) or "target" not in values:
            raise DataError('say what to explain: {"target": "name"}')
        unknown = set(values) - {"target", *SETTINGS}
        if unknown:
            raise DataError(f"unknown settings: {', '.join(sorted(unknown))}")
        name = self._backend.target_name(values["target"])
        chosen = {
            setting: whole_number(setting, values.get(setting, usual), *bounds)
            for setting, (usual, *bounds) in SETTINGS.items()
        }
        with self._lock:
            if len(self.running()) >= MOST_RUNNING:
                raise BusyError(
                    f"{MOST_RUNNING} explanations are running already; stop one, or wait for it"
                )
            search = LiveSearch(next(self._numbers), name)
            ended = [number for number, s in self._searches.items() if s.state != "running"]
            for number in ended[: max(0, len(self._searches) + 1 - MOST_REMEMBERED)]:
                del self._searches[number]
            self._searches[search.id] = search
            search.thread = threading.Thread(
                target=self._run, args=(search,), kwargs=chosen, daemon=True
            )
            search.thread.start()
        return search

    def find(self, number: str) -> LiveSearch | None:
        """The search of a number, if there is one."""
        return self._searches.get(number)

    def save(self, search: LiveSearch) -> str:
        """Write what came out into the run folder, as a run of its own; return its name there."""
        result, explanation = search.result, search.explanation
        if result is None or explanation is None:
            raise DataError("there is nothing to save yet; wait for the explanation, or stop it")
        with self._lock:
            if not search.saved:
                search.saved = self._backend.saved.add(result, explanation.target.index)
        return search.saved

    def running(self) -> list[LiveSearch]:
        """The searches that go on now, for tabs that were opened later."""
        return [search for search in list(self._searches.values()) if search.state == "running"]

    def close(self, timeout: float) -> bool:
        """End every search; gives whether all have ended, after waiting so many seconds in all.

        A thread that still computes when Python shuts down takes the process with it (SIGABRT), so
        that each is waited for.
        """
        deadline = time.monotonic() + timeout
        for search in self.running():
            search.stop(abandon=True)
        for search in self.running():
            if search.thread is not None:
                search.thread.join(max(0.0, deadline - time.monotonic()))
        return not self.running()

    def _run(self, search: LiveSearch, restarts: int, iterations: int, seed: int) -> None:
        backend = self._backend
        known = backend.result.explanations.get(search.name)
        # Graphs as large as those of the run, where it has the target.
        size = {} if known is None else {"max_nodes": known.max_nodes}
        try:
            search.result = explain(
                # A model of its own: the page goes on asking the other meanwhile.
                clean_copy(backend.model),
                spec=backend.spec,
                targets=backend.targets[search.name],
                restarts=restarts,
                seed=seed,
                recipe=Recipe.auto(iterations=iterations, **size),
                forward=backend.forward,
                class_statistics=backend.statistics,
                progress=False,
                callbacks=(search.watch,),
            )
            search.explanation = next(iter(search.result.values()))
            search.state = "stopped" if search.stopping else "done"
        except _AbandonedError:
            search.state = "stopped"
        except Exception as error:  # whatever a user's model does
            search.error = f"{type(error).__name__}: {error}"
            search.state = "failed"


def _number(value: float, digits: int) -> float | None:
    """A number for JSON, which has no word for what is not finite."""
    return round(value, digits) if math.isfinite(value) else None
