"""What tests share that open pages in a real browser; without one they are skipped."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

__all__ = ["CHROMIUM", "MARKS", "launched", "sync_api"]

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
# Five seconds, the default, are too few on a busy machine.
sync_api.expect.set_options(timeout=60_000)
MARKS = [
    pytest.mark.skipif(
        CHROMIUM is None or "GNNINTERPRETER_NO_BROWSER" in os.environ,
        reason="no chromium was found, or it is not wanted",
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def launched(playwright: Any) -> Any:
    """A browser without a window, which asks nobody outside for anything."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
