"""The same step many times: on a GPU its launches are recorded once and then replayed.

A step of a search is hundreds of small operations, and a GPU waits for each to be asked for. While
it replays them it has no need of the host, which can ask for something else meanwhile (`Aside`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from functools import cached_property
from threading import local
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor

from gnninterpreter.batches import widened
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.recording import fixed_shapes

if TYPE_CHECKING:
    from gnninterpreter.search.problem import Problem

# Graphs of a step from which on it pays to record it anew for fewer restarts.
MANY = 4096
# Numbers in the edges of all graphs of a step from which on an operation takes longer than to ask
# for it: it is then better to leave out what need not be computed, which cannot be recorded.
MOST_RECORDED = 2**27
# After how many steps a GPU is asked which restarts go on, where most take few.
LOOK_EVERY = 5


class Repeated:
    """A step that is made again and again, ``total`` times at the most.

    It changes tensors in place, always the same ones. One that waits for the device cannot be
    recorded and is made as it is; the last time is not worth a recording. ``size``: numbers in the
    edges of all graphs that a step makes.
    """

    def __init__(
        self, step: Callable[[], None], device: torch.device, total: int, size: int = 0
    ) -> None:
        self._step, self._device, self._left = step, device, total
        self._warm = False
        records = device.type == "cuda" and size <= MOST_RECORDED
        self._again: Callable[[], object] | None = None if records else step

    def __call__(self, times: int) -> None:
        """Make the step so many times."""
        for _ in range(times):
            if self._again is None and self._warm and self._left > 1:
                self._again = self._recorded()
            self._left -= 1
            if self._again is not None:
                self._again()
                continue
            # Once as it is, in which libraries and tables are set up, where it will be recorded.
            try:
                self._on_the_side(self._step)
            except torch.cuda.OutOfMemoryError:
                self._again = self._step
                self._step()
            self._warm = True

    def _on_the_side(self, work: Callable[[], None]) -> None:
        side, current = _side(self._device).stream, torch.cuda.current_stream(self._device)
        side.wait_stream(current)
        with torch.cuda.stream(side), fixed_shapes():
            work()
        current.wait_stream(side)

    def _recorded(self) -> Callable[[], object]:
        graph = torch.cuda.CUDAGraph()

        # Not by `torch.cuda.graph`, which gives all free memory back and waits before it begins.
        def record() -> None:
            graph.capture_begin(pool=_side(self._device).pool, capture_error_mode="thread_local")
            self._step()
            graph.capture_end()

        try:
            self._on_the_side(record)
        except RuntimeError:
            _abandoned(graph, self._device)
            return self._step
        replay: Callable[[], object] = graph.replay
        return replay


class _Side:
    """Where a thread records: one stream and one pool of memory, in which nothing is kept."""

    def __init__(self, device: torch.device) -> None:
        self.stream: Any = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self.pool = torch.cuda.graph_pool_handle()

    @cached_property
    def keeper(self) -> torch.cuda.CUDAGraph:
        """A recording of nothing much, which keeps the pool when others are done with it."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(self.stream):
            graph.capture_begin(pool=self.pool, capture_error_mode="thread_local")
            torch.zeros(1, device=self.stream.device)
            graph.capture_end()
        return graph


_SIDES = local()


def _side(device: torch.device) -> _Side:
    sides: dict[torch.device, _Side] = _SIDES.__dict__.setdefault("sides", {})
    if device not in sides:
        sides[device] = _Side(device)
        _ = sides[device].keeper
    return sides[device]


def _abandoned(graph: torch.cuda.CUDAGraph, device: torch.device) -> None:
    """End a recording that has failed, and record elsewhere from now on."""
    side: _Side = _SIDES.sides.pop(device)
    with suppress(RuntimeError), torch.cuda.stream(side.stream):
        graph.capture_end()
    with suppress(RuntimeError):  # which does not end what it has begun if it fails
        torch._C._cuda_endAllocateToPool(torch.cuda.current_device(), side.pool)
    torch.cuda.synchronize(device)


Found = TypeVar("Found")
# Work in turns. It yields True where a GPU is busy with what it was asked for, before it waits for
# that; and False where it has its answers, before it asks for more.
Turns = Generator[bool, None, Found]


class Aside(Generic[Found]):
    """Work that is done bit by bit, while a GPU is busy with something else."""

    def __init__(self, turns: Turns[Found]) -> None:
        self._turns, self._asked = turns, False
        self._found: list[Found] = []

    def turn(self, asked: bool) -> None:
        """Go on, if this is the moment: ask for more while it is busy, or read what is there."""
        if asked == self._asked or self._found:
            return
        try:
            self._asked = next(self._turns)
        except StopIteration as end:
            self._found.append(end.value)

    def result(self) -> Found:
        """Do what is left, and tell what came of it."""
        if not self._found:
            self._found.append(done(self._turns))
        return self._found[0]


def done(turns: Turns[Found], aside: Aside[Any] | None = None) -> Found:
    """Take all turns, and in between those of what is done aside."""
    while True:
        try:
            asked = next(turns)
        except StopIteration as end:
            found: Found = end.value
            return found
        if aside is not None:
            aside.turn(asked)


# Told the steps done and the graphs so far; True ends the search.
Tell = Callable[[int, DenseGraphs], bool]
Own = TypeVar("Own", bound="Work")


class Work(Protocol):
    """Restarts on their way; a step makes ``each`` graphs of one, and changes it in place."""

    best: DenseGraphs
    each: int
    problem: Problem

    def going(self) -> Tensor:
        """Which restarts are not done, [R]."""

    def select(self: Own, keep: Tensor) -> Own:
        """Some of them, as far on as they are."""

    def step(self) -> None:
        """Make a step, without effect on restarts that are done."""


def finished(
    work: Work, steps: int, every: int, tell: Tell | None = None, candidates: int | None = None
) -> DenseGraphs:
    """Make steps until all restarts are done, and return the graph of each on ``candidates`` nodes.

    After ``every`` steps it looks who is done, which waits for a GPU, and tells the steps done and
    the graphs so far; True ends it. What the problem has to be done aside gets its turns.
    """
    return done(finishing(work, steps, every, tell, candidates), work.problem.aside)


def steps_unseen(device: torch.device) -> int:
    """After how many steps of a search, of which few are many, it is looked who is done."""
    return 1 if device.type == "cpu" else LOOK_EVERY


def finishing(
    work: Work,
    steps: int,
    every: int,
    tell: Tell | None = None,
    candidates: int | None = None,
    look: Callable[[DenseGraphs], None] | None = None,
    blind: bool = False,
) -> Turns[DenseGraphs]:
    """The same in turns.

    ``look`` is shown the graphs before it is asked who goes on, and in the end; ``blind`` makes the
    first steps without asking, in which restarts that are done stand still.
    """
    n = candidates or work.best.num_candidates
    found = widened(work.best, n)
    device = found.weight.device
    rows = torch.arange(len(found), device=device)
    again = Repeated(work.step, device, steps, work.each * numbers(work.best))
    for step in range(0, steps, every):
        if look is not None:
            look(found)
        if step or not blind:
            keep = work.going()
            if step:
                yield True
            left = int(keep.sum())
            if not left or (tell is not None and tell(step, found)):
                return found
            yield False
            # On a GPU few take as long as many, and what goes on is recorded anew.
            many = device.type == "cpu" or work.each * keep.numel() >= MANY
            if many and left <= keep.numel() * (1.0 if device.type == "cpu" else 0.5) - 0.5:
                rows, work = rows[keep], work.select(keep)
                again = Repeated(work.step, device, steps - step, work.each * numbers(work.best))
        again(min(every, steps - step))
        found = found.merged(rows, widened(work.best, n))
    if look is not None:
        look(found)
    return found


def numbers(graphs: DenseGraphs) -> int:
    """How many numbers the edges of graphs are."""
    return graphs.weight.numel() + (0 if graphs.edges is None else graphs.edges.numel())


def put(graphs: DenseGraphs, by: DenseGraphs) -> None:
    """Put graphs in the place of others, in place."""
    graphs.weight.copy_(by.weight)
    graphs.nodes.copy_(by.nodes)
    if graphs.edges is not None and by.edges is not None:
        graphs.edges.copy_(by.edges)
