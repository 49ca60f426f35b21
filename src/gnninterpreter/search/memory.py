"""How much memory a search takes, known before it begins, and how many restarts fit at once.

What one restart takes is measured on the model itself, for a moment, since nothing else knows how
wide its layers are. Restarts never see each other, so that parts of them can be searched for one
after the other with the same results.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.errors import ModelError, SpecError
from gnninterpreter.search.ascent import Ascent
from gnninterpreter.search.calibration import Calibrate
from gnninterpreter.search.gradient import Moment, gradient_of
from gnninterpreter.search.opening import SAMPLES, TEMPERATURE
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.recipe import Recipe
from gnninterpreter.search.spread import Spread
from gnninterpreter.spec import GraphSpec

UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
# Share of what is free that a search may take, and how much more than measured it is taken to need.
SHARE, MARGIN = 0.8, 1.5
# What a run takes however small it is: data read, cores, and what allocators keep.
FIXED = 100 * 10**6
# Graphs of each restart that discrete phases have in hand at a time.
IN_HAND = 200


@dataclass(frozen=True)
class Plan:
    """How the restarts of a search fit into memory: how many at once, and the bytes they take."""

    restarts: int
    at_once: int
    bytes: int
    limit: int

    def __str__(self) -> str:
        together = self.at_once // self.restarts
        of = f" of {together} targets" if together > 1 else ""
        how = f"{self.restarts} restarts{of} at once"
        if self.at_once < self.restarts:
            parts = -(-self.restarts // self.at_once)
            how = f"{self.restarts} restarts in {parts} parts, at most {self.at_once} at once"
        return f"memory: about {_said(self.bytes)} of {_said(self.limit)} for {how}"

    @contextmanager
    def enough(self) -> Iterator[None]:
        """Say what to do where an allocator gives up: others may have taken what was free."""
        try:
            yield
        except (MemoryError, RuntimeError, ModelError) as error:
            cause = error.__cause__ if isinstance(error, ModelError) else error
            out = isinstance(cause, (MemoryError, torch.OutOfMemoryError))
            if not out and "can't allocate memory" not in str(cause):
                raise
            raise SpecError(
                f"memory ran out while {self.at_once} restarts were searched for at once; ask for "
                "fewer restarts or nodes, or set max_memory to less than is free"
            ) from error


class _Peak(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of tensors that are made and still there; ``most`` is their peak."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now: int = 0
        self.most: int = 0
        self._alive: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any | None = None
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        for value in tree_leaves(made):
            if isinstance(value, Tensor) and value.layout == torch.strided:
                self._add(value.untyped_storage())
        return made

    def _add(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key in self._alive:
            return

        def gone(_: Any) -> None:
            del self._alive[key]
            self.now -= size

        self._alive[key] = weakref.ref(storage, gone)
        self.now += size
        self.most = max(self.most, self.now)


def peak_bytes(call: Any) -> int:
    """Most bytes of tensors that a call had at any time, beyond those that were there before."""
    peak = _Peak()
    with peak:
        call()
    return peak.most


def read_bytes(value: Any) -> int | None:
    """Read an amount of memory: bytes, or a text such as ``"4GB"``; None stays None."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        found = float(min(value, 2**62))
    else:
        match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", str(value)[:40].lower())
        if not isinstance(value, str) or match is None:
            raise SpecError(
                f"max_memory must be a number of bytes or a text such as '4GB' (got {value!r:.40})"
            )
        found = float(match[1]) * UNITS[match[2]]
    if found < 1:
        raise SpecError(f"max_memory must be at least 1 byte (got {value!r:.40})")
    return int(found)


def plan_restarts(
    problem: Problem,
    begin: Callable[[], GraphDistribution],
    recipe: Recipe,
    restarts: int,
    limit: int | None = None,
    together: int = 1,
) -> Plan:
    """Find out how many restarts fit into memory at once; ``begin`` makes the beginning of one.

    Those of ``together`` targets, where they do.
    """
    limit = int(SHARE * _free(problem.classifier.device)) if limit is None else limit
    spec, nodes = problem.classifier.spec, int(problem.aim.max_nodes)
    kept = _kept(spec, nodes, recipe, problem)
    _check_one(FIXED + kept, nodes, limit)  # before anything of that size is made
    start = begin()
    # What is made by the first question alone, such as real graphs on so many nodes, stays.
    first, again = (_asking(problem, start) for _ in range(2))
    fixed = FIXED + max(first - again, 0)
    working = _working(problem, start, recipe, again + IN_HAND * _graph_bytes(spec, nodes, problem))
    _check_one(fixed + working + kept, nodes, limit)
    most = (limit - fixed - working) // kept
    if restarts > most:
        raise SpecError(
            f"restarts must be at most {most} to fit into memory: {restarts} need about "
            f"{_said(fixed + working + kept * restarts)}, and {_said(limit)} may be used; "
            "ask for fewer, or raise max_memory"
        )
    every = restarts * together
    if fixed + (working + kept) * every <= limit:
        return Plan(restarts, every, fixed + (working + kept) * every, limit)
    at_once = min(restarts, (limit - fixed - kept * restarts) // working)
    return Plan(restarts, at_once, fixed + at_once * working + restarts * kept, limit)


def _check_one(needed: int, nodes: int, limit: int) -> None:
    if needed > limit:
        raise SpecError(
            f"one restart on {nodes} nodes needs about {_said(needed)} of memory or more, and "
            f"{_said(limit)} may be used; lower max_nodes, or raise max_memory"
        )


def _asking(problem: Problem, start: GraphDistribution) -> int:
    """Bytes that it takes to ask the model about the graphs of a restart."""
    streams = Streams(0, 1, device=problem.classifier.device)
    return peak_bytes(lambda: problem.mean_score(start, IN_HAND, streams))


def _working(problem: Problem, start: GraphDistribution, recipe: Recipe, asking: int) -> int:
    """Bytes that one restart takes while it is searched for."""
    device = problem.classifier.device
    peaks = [asking]
    gradient = gradient_of(problem)
    for phase in recipe.phases:
        samples = SAMPLES if isinstance(phase, Calibrate) and problem.aim.bank is not None else 0
        if isinstance(phase, Ascent):
            samples = phase.samples
        if samples:
            moment, streams = Moment(0, 1, samples, TEMPERATURE), Streams(0, 1, device=device)
            peaks.append(peak_bytes(partial(gradient, start, moment, streams)))
    return int(MARGIN * max(peaks))


def _kept(spec: GraphSpec, nodes: int, recipe: Recipe, problem: Problem) -> int:
    """Bytes that are kept of each restart to the end: its latents, and graphs to sample from."""
    graphs = 8  # latents are as large, with their moments and the best ones so far
    if problem.aim.bank is not None:
        graphs += sum(
            phase.walkers * (1 + phase.steps // phase.keep_every)
            for phase in recipe.phases
            if isinstance(phase, Spread)
        )
    return int(MARGIN * graphs * _graph_bytes(spec, nodes, problem))


def _graph_bytes(spec: GraphSpec, nodes: int, problem: Problem) -> int:
    numbers = nodes * nodes * (1 + spec.edge_width) + nodes * spec.node_width
    return numbers * problem.classifier.dtype.itemsize


def _free(device: torch.device) -> int:
    """Bytes that are free where the search runs."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    import psutil  # PyTorch Geometric brings it along

    free = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # a container may allow less
        group = Path("/sys/fs/cgroup")
        allowed = int((group / "memory.max").read_text())
        free = min(free, allowed - int((group / "memory.current").read_text()))
    with suppress(ImportError, OSError, ValueError):  # and so may a shell
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
        if allowed != resource.RLIM_INFINITY:
            free = min(free, allowed - psutil.Process(os.getpid()).memory_info().vms)
    return max(free, 0)


def _said(count: float) -> str:
    """Bytes for people."""
    power = min((len(str(int(count))) - 1) // 3, 5)
    value = count / 1000**power
    return f"{value:.3g} {('bytes', 'kB', 'MB', 'GB', 'TB', 'PB')[power]}"
