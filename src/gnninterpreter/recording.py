"""Whether a step is being recorded for a GPU, in which case no shape may depend on a value.

A recorded step is replayed as it is: it cannot ask how many graphs are left, nor wait for an
answer. What would leave something out to save time then computes it for all. Tables that steps
share are made before, and stay as long as a recording reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import torch

Given, Table = ParamSpec("Given"), TypeVar("Table")

# Tables that what runs now has read; None where it is not recorded.
_READ: ContextVar[list[Any] | None] = ContextVar("tables", default=None)


def recording() -> bool:
    """Whether what runs now is recorded."""
    return _READ.get() is not None


@contextmanager
def fixed_shapes() -> Iterator[list[Any]]:
    """Run a step as if it were recorded; gives the tables that it reads."""
    read: list[Any] = []
    token = _READ.set(read)
    try:
        yield read
    finally:
        _READ.reset(token)


def shared_table(maxsize: int) -> Callable[[Callable[Given, Table]], Callable[Given, Table]]:
    """Keep tensors that a function makes, as `functools.lru_cache` does, for all threads.

    Made in one stream of a GPU they are read in others, so that they are waited for. A recording
    cannot wait, and fails where one is missing: it would only be filled when it is replayed.
    """

    def keeping(make: Callable[Given, Table]) -> Callable[Given, Table]:
        @lru_cache(maxsize=maxsize)
        def made(*given: Any) -> Table:
            found = make(*given)
            if torch.cuda.is_initialized():
                torch.cuda.current_stream().synchronize()
            return found

        @wraps(make)
        def read(*given: Given.args, **named: Given.kwargs) -> Table:
            found = made(*given, **named)
            tables = _READ.get()
            if tables is not None:
                tables.append(found)
            return found

        return read

    return keeping
