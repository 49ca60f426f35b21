"""Shared by all tests."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from gnninterpreter.datasets.published import MissingFileError
from tests.fuzzing import FUZZ

# Tiny tensors: threads cost more than they bring, and results must not depend on their number.
torch.set_num_threads(1)


def pytest_configure(config: pytest.Config) -> None:
    """Data sets go into a cache of this run: nobody's own is read or written."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="gnninterpreter-")
        os.environ["GNNINTERPRETER_CACHE"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that no process ends long after the others.

    Those with a browser come last: while one is open, the thread counts as one with an event loop.
    """
    browsing = {item.path for item in items if "browser" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: (item.path in browsing, item.get_closest_marker("slow") is None))


def _without_data(item: pytest.Item) -> Iterator[None]:
    """Skip a test whose published data is neither here nor can be fetched, and say which."""
    try:
        yield
    except MissingFileError as error:
        pytest.skip(str(error))


pytest_runtest_setup = pytest.hookimpl(wrapper=True)(_without_data)
pytest_runtest_call = pytest.hookimpl(wrapper=True)(_without_data)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What tests that try things by chance have counted; with ``make fuzz``, where it is much."""
    if not FUZZ:
        return
    for report in terminalreporter.stats.get("passed", []):
        for name, counts in report.user_properties:
            said = ", ".join(f"{count:,} {what}" for what, count in counts.items())
            terminalreporter.write_line(f"{name}: {said}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One for all pages of a process; each page has cookies and storage of its own."""
    from tests.browsing import launched, sync_api

    with sync_api.sync_playwright() as playwright:
        running = launched(playwright)
        yield running
        running.close()


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
