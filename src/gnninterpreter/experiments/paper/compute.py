"""Computing all that some studies need with several processes, before anything is drawn.

Needs no more than torch, torch_geometric, numpy, networkx, scipy and safetensors, so that it runs
where nothing else is installed; the results are drawn from the stored values elsewhere.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence

from gnninterpreter.errors import OutputError, SpecError
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.store import Computation, Store
from gnninterpreter.parallel import Workers

STUDIES: tuple[str, ...] = (
    "statistics", "classifiers", "quantitative", "qualitative", "multiple", "random", "xgnn",
    "metrics", "ablation", "verification", "complexity", "bias",
)  # fmt: skip
"""The parts of the paper's evaluation, in the order of the paper."""

CACHE = "cache"


def computations_of(studies: Sequence[str], settings: Settings) -> list[Computation]:
    """All computations that studies need, each once, the dearest first."""
    found: dict[Computation, None] = {}
    for name in studies:
        if name not in STUDIES:
            raise SpecError(f"there is no study {name!r}; there are {', '.join(STUDIES)}")
        module = importlib.import_module(f"gnninterpreter.experiments.paper.studies.{name}")
        found.update(dict.fromkeys(module.computations(settings)))
    return sorted(found, key=lambda work: -work.cost)


def list_computations(studies: Sequence[str], settings: Settings, store: Store) -> list[str]:
    """What studies compute, a line each, and how much of it is still to do."""
    wanted = computations_of(studies, settings)
    missing = set(store.missing(wanted))
    lines = [
        f"{work.cost:7.1f} s  {work.name}{'' if work in missing else '  (there)'}"
        for work in wanted
    ]
    minutes = sum(work.cost for work in missing) / 60
    total = f"{len(missing)} of {len(wanted)} to compute: about {minutes:.0f} minutes of CPU"
    return [*lines, total]


def compute(
    studies: Sequence[str],
    settings: Settings,
    store: Store,
    *,
    jobs: int | Workers = 1,
    say: Callable[[str], None] = lambda line: None,
) -> int:
    """Compute what is not yet there; what is finished stays, however the run ends."""
    wanted = computations_of(studies, settings)
    try:
        store.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot write to {store.folder} ({error.strerror or error}); choose another folder"
        ) from error
    missing = store.missing(wanted)
    say(f"{len(wanted) - len(missing)} of {len(wanted)} values are there")
    started = time.perf_counter()
    for number, (work, _) in enumerate(store.compute(missing, jobs), start=1):
        say(f"{number}/{len(missing)} {time.perf_counter() - started:.0f} s  {work.name}")
    return len(missing)
