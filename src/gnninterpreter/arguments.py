"""Checks of what users pass, before anything is done with it; every package may use them."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from gnninterpreter.errors import GNNInterpreterError, OutputError, SpecError
from gnninterpreter.files import check_writable

Kind = type[GNNInterpreterError]
PAGES = (".html", ".htm")


def whole_number(
    name: str, value: Any, least: int, most: int = 2**63 - 1, *, error: Kind = SpecError
) -> int:
    """Check a whole number between two bounds."""
    try:
        number = operator.index(value)
        if isinstance(value, bool):
            raise TypeError
    except (TypeError, RuntimeError):
        raise error(f"{name} must be a whole number (got {value!r:.40})") from None
    if not least <= number <= most:
        bound = f"at least {least}" if number < least else f"at most {most}"
        raise error(f"{name} must be {bound} (got {number!r:.40})")
    return number


def one_of(name: str, value: Any, allowed: Iterable[str], error: Kind = SpecError) -> str:
    """Check a word out of several."""
    known = list(allowed)
    if not isinstance(value, str) or value not in known:
        raise error(f"{name} must be one of {', '.join(known)} (got {value!r:.60})")
    return str(value)


def folded(name: Any) -> str:
    """A name of a data set or model as it is looked up, however it was written."""
    return str(name).strip().lower().replace("-", "_")


def real_number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Check a finite number between two bounds."""
    try:
        found = math.nan if isinstance(value, (str, bytes, bool)) else float(value)
    except (OverflowError, TypeError, ValueError, RuntimeError):
        found = math.nan
    if not (math.isfinite(found) and low <= found <= high):
        bounds = "" if low == -math.inf else f" of at least {low:g}"
        bounds = f" from {low:g} to {high:g}" if math.isfinite(high - low) else bounds
        raise SpecError(f"{name} must be a number{bounds} (got {value!r:.60})")
    return found


def check_settings(phase: Any, **least: int) -> None:
    """Check that some fields of a frozen dataclass are whole numbers of at least a value."""
    for name, bound in least.items():
        object.__setattr__(phase, name, whole_number(name, getattr(phase, name), bound))


def check_positive(value: Any, name: str, most: float = math.inf) -> None:
    """Check that a setting is a number above 0, and not above a bound."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= most or value == math.inf:
        bound = "positive" if most == math.inf else f"above 0 and at most {most:g}"
        raise SpecError(f"{name} must be {bound} (got {value!r:.60})")


def device_of(value: Any) -> torch.device:
    """Check a device that can compute here."""
    try:
        wanted = torch.device(value)
    except (RuntimeError, TypeError, ValueError) as error:
        raise SpecError(f"device {value!r:.40} is not known; use 'cpu' or 'cuda'") from error
    if wanted.type == "meta":
        raise SpecError("device 'meta' computes nothing; use 'cpu' or 'cuda'")
    if wanted.type not in ("cpu", "cuda"):
        raise SpecError(f"device {value!r:.40} is not supported; use 'cpu' or 'cuda'")
    if wanted.type == "cuda" and not torch.cuda.is_available():
        raise SpecError(f"device {value!r:.40} was asked for, but there is no CUDA here; use 'cpu'")
    if wanted.type == "cuda" and (wanted.index or 0) >= (count := torch.cuda.device_count()):
        raise SpecError(
            f"device {value!r:.40} was asked for, but the last one here is 'cuda:{count - 1}'"
        )
    return wanted


def several(name: str, values: Any, what: str) -> tuple[Any, ...]:
    """Check that there are several things, in an order; None stands for none of them."""
    if values is None:
        return ()
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Mapping, set)):
        raise SpecError(f"{name} must be a list of {what} (got {values!r:.60})")
    try:
        return tuple(values)
    except TypeError:  # an array of no dimension says that it can be iterated over
        raise SpecError(f"{name} must be a list of {what} (got {values!r:.60})") from None


def page_of(name: str, value: Any) -> Path:
    """Check the place of a page before it is made: a file of another kind is not written over."""
    path = path_of(name, value)
    if path.suffix.lower() not in PAGES:
        raise OutputError(f"{name} must be a file that ends in .html (got {str(path)!r:.60})")
    check_writable(path.parent, name)
    return path


def path_of(name: str, value: Any, error: Kind = OutputError) -> Path:
    """Check a path; nothing need be there."""
    try:
        path = Path(value)
        if "\0" in str(path):
            raise ValueError
        os.lstat(path)
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        pass  # said by whoever looks for it
    except (OSError, TypeError, ValueError):
        raise error(f"{name} must be a path that can be looked at (got {value!r:.60})") from None
    return path
