"""Recipes as plain JSON values and back: every frozen dataclass with the name of its class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from gnninterpreter.errors import GNNInterpreterError, SpecError

KEY = "class"


def to_plain(value: Any) -> Any:
    """Plain JSON values of a dataclass, with those inside it."""
    if is_dataclass(value) and not isinstance(value, type):
        inside = {f.name: to_plain(getattr(value, f.name)) for f in fields(value) if f.init}
        return {KEY: type(value).__name__, **inside}
    if isinstance(value, (list, tuple)):
        return [to_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(key): to_plain(part) for key, part in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    # A part of the user's own: it can be told, not built again.
    return {KEY: type(value).__name__, "told": repr(value)}


def from_plain(value: Any) -> Any:
    """Read what `to_plain` wrote."""
    if isinstance(value, list):
        return tuple(from_plain(part) for part in value)
    if not isinstance(value, Mapping):
        return value
    name = value.get(KEY)
    kind = _classes().get(str(name))
    if kind is None:
        raise SpecError(
            f"a stored recipe holds {name!r}, which the library does not have; "
            "build the recipe in Python and pass it as recipe="
        )
    try:
        return kind(**{key: from_plain(part) for key, part in value.items() if key != KEY})
    except GNNInterpreterError:
        raise
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise SpecError(f"a stored {name} cannot be read: {error!s:.200}") from error


def _classes() -> dict[str, Any]:
    from gnninterpreter import objective, search

    found = [getattr(package, name) for package in (objective, search) for name in package.__all__]
    return {kind.__name__: kind for kind in found if isinstance(kind, type) and is_dataclass(kind)}
