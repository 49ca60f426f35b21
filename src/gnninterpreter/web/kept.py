"""Explanations that were kept: runs of their own inside the run folder, found again later."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from gnninterpreter.errors import CheckpointError
from gnninterpreter.explanation import Explanation, ExplanationSet, load_run, save_run
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec

__all__ = ["keep", "kept_explanations"]

FOLDER = "kept"


def keep(
    result: ExplanationSet, target: int, folder: Path, statistics: ClassStatistics | None = None
) -> str:
    """Write a result below a run folder, under a name that is still free.

    Returns:
        Its name below the run folder.
    """
    for number in itertools.count(1):
        name = f"{target}-{number}"
        place = folder / FOLDER / name
        # A server that was started anew counts from one again; what is there stays.
        if not place.exists():
            break
    save_run(result, place, statistics=statistics)
    return f"{FOLDER}/{name}"


def kept_explanations(folder: Path, spec: GraphSpec) -> Iterator[tuple[str, Explanation]]:
    """What was kept in a run folder, by name, in the order it was kept.

    What cannot be read, or is about other graphs, is passed over: it must not keep the page from
    opening.
    """
    places = [path for path in (folder / FOLDER).glob("*") if path.is_dir()]
    for place in sorted(places, key=_number):
        try:
            result = load_run(place)
        except CheckpointError:
            continue
        if result.spec == spec:
            for explanation in result.values():
                yield f"{FOLDER}/{place.name}", explanation


def _number(place: Path) -> tuple[float, str]:
    index = place / "run.json"
    return (index.stat().st_mtime if index.exists() else 0.0), place.name
