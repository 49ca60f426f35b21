"""Explanations that run while somebody watches: started, followed, stopped and kept."""

from __future__ import annotations

import copy
import itertools
import math
import threading
import time
from typing import Any

import networkx as nx

from gnninterpreter.api import explain
from gnninterpreter.errors import DataError, GNNInterpreterError, SpecError
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.report.drawing import graph_svg
from gnninterpreter.report.gallery import candidate_graph
from gnninterpreter.search import Recipe, Snapshot
from gnninterpreter.spec import GraphSpec
from gnninterpreter.web.kept import keep
from gnninterpreter.web.studio import Studio

__all__ = ["BusyError", "Job", "Jobs", "picture"]

MOST_RUNNING = 2
MOST_KEPT_IN_MEMORY = 50
MOST_RESTARTS, MOST_ITERATIONS = 32, 5000
PICTURE = (360, 260)
PAUSE = 0.25


class BusyError(GNNInterpreterError):
    """As many explanations are running as may."""


class Job:
    """One explanation under way.

    Attributes:
        state: ``"running"``, ``"done"``, ``"stopped"`` or ``"failed"``.
        looks: What was seen so far, as JSON values; only ever appended to.
        explanation: What came out.
        error: Why it failed.
        kept: Where it was kept, below the run folder.
    """

    def __init__(self, number: int, target: int, name: str) -> None:
        """Nothing has been seen yet."""
        self.id = str(number)
        self.target = target
        self.name = name
        self.state = "running"
        self.looks: list[dict[str, Any]] = []
        self.explanation: Explanation | None = None
        self.result: ExplanationSet | None = None
        self.error = ""
        self.kept = ""
        self._drawn = -PAUSE
        self._stop = threading.Event()

    def stop(self) -> None:
        """Ask the search to end at its next look."""
        self._stop.set()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._stop.is_set()

    def look(self, look: Snapshot) -> bool:
        """Take in how the search stands; True ends it, whatever its phase."""
        best = int(look.score.nan_to_num(nan=-1.0).argmax())
        self.looks.append(
            {
                "phase": look.phase,
                "iteration": look.iteration,
                "iterations": look.iterations,
                "probability": [_number(p, 4) for p in look.score.tolist()],
                "edges": [_number(e, 2) for e in look.edges.tolist()],
                "best": best,
                "svg": self._picture(look, best),
            }
        )
        return self.stopping

    def _picture(self, look: Snapshot, best: int) -> str | None:
        """The best graph, but no more often than an eye can follow: drawing holds up the search."""
        now = time.monotonic()
        if self.stopping or now - self._drawn < PAUSE:
            return None
        self._drawn = now
        graph = candidate_graph(look.distribution.select([best]).mode(), 0)
        return picture(graph, look.distribution.spec)


class Jobs:
    """All explanations of one server.

    Args:
        studio: The run and its model.
    """

    def __init__(self, studio: Studio) -> None:
        """Nothing runs yet."""
        self._studio = studio
        self._jobs: dict[str, Job] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def start(self, values: Any) -> Job:
        """Start to explain a class.

        Args:
            values: ``{"target": ..., "restarts": ..., "iterations": ..., "seed": ...}``; all but
                the first may be left out.

        Raises:
            GNNInterpreterError: If a value has to be mended, or too many are running.
        """
        if not isinstance(values, dict) or "target" not in values:
            raise DataError('say which class to explain: {"target": "name"}')
        unknown = set(values) - {"target", "restarts", "iterations", "seed"}
        if unknown:
            raise DataError(f"unknown settings: {', '.join(sorted(map(str, unknown)))}")
        spec = self._studio.spec
        target = spec.class_index(values["target"])
        restarts = _whole(values, "restarts", 4, 1, MOST_RESTARTS)
        iterations = _whole(values, "iterations", 600, 1, MOST_ITERATIONS)
        seed = _whole(values, "seed", 0, 0, 2**31 - 1)
        with self._lock:
            if len(self.running()) >= MOST_RUNNING:
                raise BusyError(
                    f"{MOST_RUNNING} explanations are running already; stop one, or wait for it"
                )
            job = Job(next(self._numbers), target, spec.class_names[target])
            self._jobs[job.id] = job
            for old in [j for j in self._jobs.values() if j.state != "running"][
                : max(0, len(self._jobs) - MOST_KEPT_IN_MEMORY)
            ]:
                del self._jobs[old.id]
        arguments = (job, restarts, iterations, seed)
        threading.Thread(target=self._run, args=arguments, daemon=True).start()
        return job

    def find(self, number: str) -> Job | None:
        """The job of a number, if there is one."""
        return self._jobs.get(number)

    def keep(self, job: Job) -> str:
        """Write what came out into the run folder, as a run of its own.

        Returns:
            Its name below the run folder.

        Raises:
            DataError: If nothing has come out yet.
        """
        if job.result is None:
            raise DataError("there is nothing to keep yet; wait for the explanation, or stop it")
        with self._lock:
            if not job.kept:
                studio = self._studio
                job.kept = keep(job.result, job.target, studio.folder, studio.statistics)
        return job.kept

    def running(self) -> list[Job]:
        """The searches that go on now, for tabs that were opened later."""
        return [job for job in list(self._jobs.values()) if job.state == "running"]

    def stop_all(self) -> None:
        """Ask every search to end."""
        for job in list(self._jobs.values()):
            job.stop()

    def _size(self, job: Job) -> dict[str, int]:
        """Graphs as large as those of the run, where it has the class."""
        known = self._studio.result.explanations.get(job.name)
        return {} if known is None else {"max_nodes": known.max_nodes}

    def _run(self, job: Job, restarts: int, iterations: int, seed: int) -> None:
        studio = self._studio
        try:
            job.result = explain(
                # A model of its own: the page goes on asking the other meanwhile.
                copy.deepcopy(studio.model),
                spec=studio.spec,
                targets=job.target,
                restarts=restarts,
                seed=seed,
                recipe=Recipe.auto(iterations=iterations, **self._size(job)),
                forward=studio.forward,
                class_statistics=studio.statistics,
                progress=False,
                callbacks=(job.look,),
            )
            job.explanation = next(iter(job.result.values()))
            job.state = "stopped" if job.stopping else "done"
        except Exception as error:  # whatever a user's model does
            job.error = f"{type(error).__name__}: {error}"
            job.state = "failed"


def picture(graph: nx.Graph, spec: GraphSpec) -> str:
    """A small drawing of a graph, for the panel that watches a search."""
    return graph_svg(graph, spec, size=PICTURE, show_legend=False, compact=True)


def _number(value: float, digits: int) -> float | None:
    """A number for JSON, which has no word for what is not finite."""
    return round(value, digits) if math.isfinite(value) else None


def _whole(values: dict[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = values.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SpecError(f"{name} must be a whole number from {least} to {most} (got {value!r})")
    return value
