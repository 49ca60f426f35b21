"""Checking the settings of phases: whole numbers within bounds, positive numbers, known words."""

from __future__ import annotations

import math
import operator
from typing import Any

from gnninterpreter.errors import SpecError


def check_settings(phase: Any, **least: int) -> None:
    """Check that some fields of a frozen dataclass are whole numbers of at least a value."""
    for name, bound in least.items():
        value = getattr(phase, name)
        try:
            number = operator.index(value)
        except TypeError:
            raise SpecError(f"{name} must be a whole number (got {value!r:.60})") from None
        if isinstance(value, bool) or number < bound:
            raise SpecError(f"{name} must be at least {bound} (got {value!r:.60})")
        object.__setattr__(phase, name, number)


def check_positive(value: Any, name: str, most: float = math.inf) -> None:
    """Check that a setting is a number above 0, and not above a bound."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= most or value == math.inf:
        bound = "positive" if most == math.inf else f"above 0 and at most {most:g}"
        raise SpecError(f"{name} must be {bound} (got {value!r:.60})")


def check_choice(value: Any, name: str, *allowed: str) -> None:
    """Check that a setting is one of some words."""
    if not isinstance(value, str) or value not in allowed:
        raise SpecError(
            f"{name} must be one of {', '.join(map(repr, allowed))} (got {value!r:.60})"
        )
