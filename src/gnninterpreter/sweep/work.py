"""What a worker does: one job, and its row of results."""

from __future__ import annotations

import json
import os
import platform
import time
from functools import lru_cache
from typing import Any

from gnninterpreter.files import finite
from gnninterpreter.sweep.jobs import Job, load_source, recipe_of
from gnninterpreter.sweep.results import COLUMNS


def perform(job: Job) -> dict[str, Any]:
    """Do a job and return its row, without what the driver adds."""
    started, cpu = time.perf_counter(), time.process_time()
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


# Jobs of one model mostly follow each other in a worker.
_loaded = lru_cache(maxsize=2)(load_source)


def _asked(job: Job) -> tuple[tuple[Any, Any], dict[str, Any]]:
    """The model with its graphs, and what both `explain` and `audit` are told."""
    model, data, call = _loaded(job.source)
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
