"""The same step many times: on a GPU its launches are recorded once and then replayed.

A step of a search is hundreds of small operations, and a GPU waits for each to be asked for.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

__all__ = ["repeated"]

# Steps before the recording, in which libraries and tables are set up.
BEFORE = 2


def repeated(step: Callable[[], None], times: int, device: torch.device) -> None:
    """Make a step so many times.

    Args:
        step: Changes tensors in place, always the same ones. One that waits for the device cannot
            be recorded and is made as it is.
        times: How often.
        device: Where its tensors are.
    """
    if device.type != "cuda" or times < BEFORE + 2:
        for _ in range(times):
            step()
        return
    current, side = torch.cuda.current_stream(device), torch.cuda.Stream(device)
    side.wait_stream(current)
    with torch.cuda.stream(side):
        for _ in range(BEFORE):
            step()
    current.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            step()
        again = graph.replay
    except RuntimeError:
        torch.cuda.synchronize(device)
        again = step  # type: ignore[assignment]
    for _ in range(times - BEFORE):
        again()
