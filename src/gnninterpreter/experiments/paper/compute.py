"""Computing all units of some studies with several processes, before anything is drawn.

Needs no more than torch, torch_geometric, numpy, networkx, scipy and safetensors, so that it runs
where nothing else is installed; the results are drawn from the stored values elsewhere.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import torch

from gnninterpreter.errors import OutputError, SpecError
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.paper.units import Store, Unit

__all__ = ["STUDIES", "compute", "units_of"]

STUDIES: tuple[str, ...] = (
    "statistics", "classifiers", "quantitative", "qualitative", "multiple", "random", "xgnn",
    "metrics", "ablation", "verification", "complexity", "bias",
)  # fmt: skip
"""The parts of the paper's evaluation, in the order of the paper."""

CACHE = "cache"


def units_of(studies: Sequence[str], settings: Settings) -> list[Unit]:
    """All units that studies need, each once, the dearest first.

    Raises:
        SpecError: If there is no such study.
    """
    found: dict[Unit, None] = {}
    for name in studies:
        if name not in STUDIES:
            raise SpecError(f"there is no study {name!r}; there are {', '.join(STUDIES)}")
        module = importlib.import_module(f"gnninterpreter.experiments.paper.studies.{name}")
        found.update(dict.fromkeys(module.units(settings)))
    return sorted(found, key=lambda work: -work.cost)


def compute(
    out: str | Path,
    *,
    quick: bool = False,
    jobs: int = 1,
    only: Sequence[str] | None = None,
    seed: int = 0,
    say: Callable[[str], None] = lambda line: None,
) -> int:
    """Compute what is not yet there; what is finished stays, however the run ends.

    Args:
        out: Folder of the results; values are kept in ``cache`` inside.
        quick: Whether to do the small version.
        jobs: Number of processes, each with one thread.
        only: Names of studies; all when omitted.
        seed: First of the seeds.
        say: Called with short lines on what is being done.

    Returns:
        Number of units that were computed.

    Raises:
        SpecError: If there is no such study, or less than one process.
        OutputError: If the folder cannot be written.
    """
    if jobs < 1:
        raise SpecError(f"jobs must be at least 1 (got {jobs})")
    wanted = units_of(STUDIES if only is None else only, Settings(quick, seed))
    store = Store(Path(out) / CACHE)
    try:
        store.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot write to {out} ({error.strerror or error}); choose another folder"
        ) from error
    missing = store.missing(wanted)
    say(f"{len(wanted) - len(missing)} of {len(wanted)} units are there")
    started = time.perf_counter()
    for number, work in enumerate(_done(store, missing, jobs), start=1):
        spent = time.perf_counter() - started
        say(f"{number}/{len(missing)} {spent:.0f} s  {work.name}")
    return len(missing)


def _done(store: Store, missing: Sequence[Unit], jobs: int) -> Iterator[Unit]:
    """Compute units and give each when it is stored; the first error is raised at the end."""
    if jobs == 1 or len(missing) < 2:
        for work in missing:
            store.fetch(work)
            yield work
        return
    failed: BaseException | None = None
    # A forked child of a process that has used torch's threads can hang; a spawned one cannot.
    context = get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(missing)), context, initializer=_one_thread) as pool:
        waiting: dict[Future[None], Unit] = {pool.submit(_fetch, store, w): w for w in missing}
        for future in as_completed(waiting):
            error = future.exception()
            if error is None:
                yield waiting[future]
            else:
                failed = failed or error
    if failed is not None:
        raise failed


def _fetch(store: Store, work: Unit) -> None:
    store.fetch(work)


def _one_thread() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
