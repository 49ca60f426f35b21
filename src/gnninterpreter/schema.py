"""Checks for values that come out of a JSON file: every field has a type and bounds.

Dataclasses of plain values say both in their annotations (`Share`, `Count`), which `typed` reads.

A check takes a value and the name of its place and returns the value, or raises ``ValueError`` with
one sentence.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection
from dataclasses import MISSING, fields, is_dataclass
from functools import reduce
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

Check = Callable[[Any, str], Any]
LARGEST = 2**63 - 1
LARGEST_FLOAT = sys.float_info.max
# What was rounded once may lie just outside its bounds.
SLACK = 1e-5


def number(low: float = -math.inf, high: float = math.inf) -> Check:
    """A finite number between two bounds."""

    def check(value: Any, where: str) -> Any:
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        # Whole numbers may be too large for a float.
        finite = real and -LARGEST_FLOAT <= value <= LARGEST_FLOAT
        if not finite or not low - SLACK <= value <= high + SLACK:
            raise _wrong(where, f"be a number{_between(low, high)}", value)
        return value

    return check


def whole(low: int = 0, high: int = LARGEST) -> Check:
    """A whole number between two bounds."""

    def check(value: Any, where: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise _wrong(where, f"be a whole number{_between(low, high)}", value)
        return value

    return check


def _kind(wanted: type, words: str) -> Check:
    def check(value: Any, where: str) -> Any:
        if not isinstance(value, wanted):
            raise _wrong(where, words, value)
        return value

    return check


text = _kind(str, "be a text")
truth = _kind(bool, "be true or false")


def anything(value: Any, where: str) -> Any:
    """Whatever it is, for what another part reads."""
    return value


def optional(part: Check, default: Any = None) -> Check:
    """Null, which stands for the default, or something that passes another check."""
    return lambda value, where: default if value is None else part(value, where)


def either(first: Check, second: Check) -> Check:
    """Something that passes one check or the other."""

    def check(value: Any, where: str) -> Any:
        try:
            return first(value, where)
        except ValueError:
            return second(value, where)

    return check


def listed(part: Check, length: int | None = None) -> Check:
    """A list of things that pass another check, of a given length if there is one."""

    def check(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list):
            raise _wrong(where, "be a list", value)
        if length is not None and len(value) != length:
            raise ValueError(f"{where} must have {length} entries (got {len(value)})")
        return [part(one, f"{where}[{i}]") for i, one in enumerate(value)]

    return check


def record(made: Callable[..., Any], **parts: Check) -> Check:
    """An object with these fields, put together by ``made``; other fields are passed over."""

    def check(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(where, "be an object", value)
        missing = [name for name in parts if name not in value]
        if missing:
            raise ValueError(f"{where} has no field {missing[0]!r}")
        return made(**{name: part(value[name], f"{where}.{name}") for name, part in parts.items()})

    return check


def typed(made: Any, strict: bool = False) -> Check:
    """An object that is a dataclass of plain values: every field is checked by its type.

    Fields with a default may be missing, unless it is strict.
    """
    parts = checks_of(made)
    later = {f.name for f in fields(made) if f.default is not MISSING and not strict}

    def check(value: Any, where: str) -> Any:
        there = parts if not isinstance(value, dict) else {
            name: part for name, part in parts.items() if name in value or name not in later
        }  # fmt: skip
        return record(made, **there)(value, where)

    return check


def checks_of(made: Any, without: Collection[str] = ()) -> dict[str, Check]:
    """A check for each field of a dataclass, by its type; `Annotated` brings one of its own."""
    hints = get_type_hints(made, include_extras=True)
    names = [field.name for field in fields(made) if field.name not in without]
    return {name: _of_type(hints[name]) for name in names}


def _of_type(hint: Any) -> Check:
    origin, kinds = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return cast(Check, kinds[1])
    if origin in (Union, UnionType):
        one = reduce(either, [_of_type(kind) for kind in kinds if kind is not type(None)])
        return optional(one) if type(None) in kinds else one
    if origin is list:
        return listed(_of_type(kinds[0]))
    if origin is tuple:
        rows = listed(_of_type(kinds[0]), None if kinds[1] is Ellipsis else len(kinds))
        return lambda value, where: tuple(rows(value, where))
    if is_dataclass(hint):
        return typed(hint, strict=True)
    simple: dict[Any, Check] = {
        bool: truth, int: whole(-LARGEST - 1), float: number(), str: text,
    }  # fmt: skip
    return simple.get(hint, anything)


def _between(low: float, high: float) -> str:
    if high in (math.inf, LARGEST):
        return "" if low == -math.inf or low == -LARGEST - 1 else f" of at least {low:g}"
    return f" from {low:g} to {high:g}"


def _wrong(where: str, what: str, value: Any) -> ValueError:
    return ValueError(f"{where} must {what} (got {value!r:.60})")


# Types of fields that say what `typed` checks.
Share = Annotated[float, number(0.0, 1.0)]
Percent = Annotated[float, number(0.0, 100.0)]
Cosine = Annotated[float, number(-1.0, 1.0)]
Amount = Annotated[float, number(0.0)]
Count = Annotated[int, whole()]
OneOrMore = Annotated[int, whole(1)]
Known = Annotated[float, optional(number(), math.nan)]
"""A number; null stands for one that is not known."""
