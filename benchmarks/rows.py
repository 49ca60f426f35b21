"""Jobs whose rows are kept in one JSON file: what is there already is not computed again."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gnninterpreter.experiments.store import map_jobs
from gnninterpreter.files import read_json, write_atomically
from gnninterpreter.fingerprints import versions

Job = tuple[Any, ...]


def kept_rows(
    function: Callable[[Job], dict[str, Any]],
    jobs: Sequence[Job],
    path: Path,
    processes: int,
    seconds: float = float("inf"),
) -> list[dict[str, Any]]:
    """Rows of all jobs that are done, in their order.

    Args:
        function: Makes a row of a job.
        jobs: The jobs, plain values.
        path: The file, written after every job.
        processes: How many at a time.
        seconds: No further job is waited for after this time; the same call goes on from there.
    """
    began = time.monotonic()
    before = read_json(path) if path.exists() else {"rows": []}
    rows = {tuple(row["job"]): row for row in before["rows"]}
    missing = [job for job in jobs if job not in rows]
    for job, row in map_jobs(function, missing, processes):
        rows[job] = {"job": list(job), **row}
        ordered = [rows[key] for key in sorted(rows)]
        text = json.dumps({**before, "versions": versions(), "rows": ordered}) + "\n"
        write_atomically(path, text.encode())
        sys.stderr.write(
            f"{len(rows.keys() & {*jobs})} of {len(jobs)}: {' '.join(map(str, job))}\n"
        )
        if time.monotonic() - began > seconds:
            break
    return [rows[job] for job in jobs if job in rows]
