"""The same step many times: on a GPU its launches are recorded once and then replayed.

A step of a search is hundreds of small operations, and a GPU waits for each to be asked for.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

# Steps before the recording, in which libraries and tables are set up.
BEFORE = 2


class Repeated:
    """A step that is made again and again.

    Args:
        step: Changes tensors in place, always the same ones. One that waits for the device cannot
            be recorded and is made as it is.
        device: Where its tensors are.
    """

    def __init__(self, step: Callable[[], None], device: torch.device) -> None:
        """Record nothing yet."""
        self._step, self._device = step, device
        self._made = 0
        self._again: Callable[[], object] | None = None if device.type == "cuda" else step

    def __call__(self, times: int) -> None:
        """Make the step so many times."""
        for left in range(times, 0, -1):
            if self._again is None:
                if self._made < BEFORE or left == 1:
                    self._warm()
                    continue
                self._again = self._recorded()
            self._again()

    def _warm(self) -> None:
        """Make the step on a stream of its own, as a recording wants it."""
        current = torch.cuda.current_stream(self._device)
        side: torch.cuda.Stream = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        side.wait_stream(current)
        with torch.cuda.stream(side):
            self._step()
        current.wait_stream(side)
        self._made += 1

    def _recorded(self) -> Callable[[], object]:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                self._step()
        except RuntimeError:
            torch.cuda.synchronize(self._device)
            return self._step
        replay: Callable[[], object] = graph.replay
        return replay
