"""How much is tried by chance: a little in ``make test``, twenty times as much in ``make fuzz``."""

from __future__ import annotations

import os

__all__ = ["FUZZ", "cases"]

FUZZ = os.environ.get("FUZZ") == "1"


def cases(few: int) -> int:
    """How many cases to try, of which ``few`` fit into an ordinary run."""
    return 20 * few if FUZZ else few
