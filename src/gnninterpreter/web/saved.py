"""Explanations saved from the live page: runs of their own in the run folder, found again later."""

from __future__ import annotations

import itertools
import stat
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnninterpreter.errors import OutputError
from gnninterpreter.explanation import Explanation, ExplanationSet, load_run, save_run
from gnninterpreter.spec import GraphSpec

FOLDER = "saved"
INDEX = "run.json"
MOST_READ = 1000

Entry = dict[str, Any]
Stamp = tuple[int, int, int]


class SavedRuns:
    """The saved explanations of one run; each is read once, and again when its file changes.

    Links in the folder are not followed: nothing outside is read or written. What was saved about
    graphs of another spec is not listed.
    """

    def __init__(self, folder: Path, spec: GraphSpec, show: Callable[[Explanation], Entry]) -> None:
        """Read nothing yet."""
        self._place = folder / FOLDER
        self._spec, self._show = spec, show
        self._read = lru_cache(MOST_READ)(self._entries_of)
        self._lock = threading.Lock()

    def add(self, result: ExplanationSet, index: int) -> str:
        """Write a result under a name that is still free, and return that name."""
        with self._lock:
            if self._place.is_symlink():
                raise OutputError(f"{self._place} is a link; replace it by a folder to save there")
            # A server that was started anew counts from one again; what is there stays.
            names = (f"{index}-{number}" for number in itertools.count(1))
            place = next(self._place / name for name in names if not (self._place / name).exists())
            save_run(result, place)
        return f"{FOLDER}/{place.name}"

    def entries(self) -> list[Entry]:
        """What was saved, in the order it was saved."""
        with self._lock:
            places = [] if self._place.is_symlink() else self._place.glob("*")
            found = sorted((stamp, place) for place in places if (stamp := _stamp(place)))
            return [entry for stamp, place in found for entry in self._read(place, stamp)]

    def _entries_of(self, place: Path, stamp: Stamp) -> list[Entry]:
        """The explanations of one saved run; none where it is damaged, or about other graphs.

        It may be damaged in any way, and must not keep the page from opening. The stamp tells one
        that was written again from the one before.
        """
        try:
            result = load_run(place)
            if result.spec != self._spec:
                return []
            shown = [self._show(e) for e in result.values() if e.num_edges]
        except Exception:
            return []
        return [{**entry, "saved": f"{FOLDER}/{place.name}"} for entry in shown]


def _stamp(place: Path) -> Stamp | None:
    """What changes when a run is written again; None where there is no run."""
    try:
        index = (place / INDEX).lstat()
    except OSError:
        return None
    if place.is_symlink() or not stat.S_ISREG(index.st_mode):
        return None
    return index.st_mtime_ns, index.st_size, index.st_ino
