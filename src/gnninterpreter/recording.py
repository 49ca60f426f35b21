"""Whether a step is being recorded for a GPU, in which case no shape may depend on a value.

A recorded step is replayed as it is: it cannot ask how many graphs are left, nor wait for an
answer. What would leave something out to save time then computes it for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

_RECORDING: ContextVar[bool] = ContextVar("recording", default=False)


def recording() -> bool:
    """Whether what runs now is recorded."""
    return _RECORDING.get()


@contextmanager
def fixed_shapes(on: torch.device | None = None) -> Iterator[None]:
    """Run a step as if it were recorded; with a device only if that is a GPU, so as not to wait."""
    token = _RECORDING.set(_RECORDING.get() or on is None or on.type != "cpu")
    try:
        yield
    finally:
        _RECORDING.reset(token)
