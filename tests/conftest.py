"""Shared by all tests."""

import signal
from collections.abc import Iterator

import pytest
import torch

# Tiny tensors: threads cost more than they bring, and results must not depend on their number.
torch.set_num_threads(1)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Processes that the test starts hear Ctrl-C, even where this one was told to ignore it.

    A background job of a shell, or one under nohup, starts with the signal ignored, and what it
    starts inherits that.
    """
    try:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
    except ValueError:
        pytest.skip("signals can be set in the main thread alone")
    yield
    signal.signal(signal.SIGINT, before)
