"""Every public name has a docstring and a place in the reference."""

from __future__ import annotations

import importlib
import inspect
import re
from importlib.util import find_spec
from pathlib import Path
from typing import get_origin

import pytest

import gnninterpreter

ROOT = Path(gnninterpreter.__file__).parent
PAGES = Path(__file__).parent.parent / "docs" / "api"
# The command line documents itself; experiments are commands.
ASIDE = (
    "arguments",
    "cli",
    "experiments",
    "views",
    "files",
    "schema",
    "equality",
    "parallel",
    "batches",
    "recording",
    "mixing",
)


def packages() -> list[str]:
    """Packages and top modules with public names."""
    found = [path.parent.name for path in ROOT.glob("*/__init__.py")]
    found += [path.stem for path in ROOT.glob("*.py") if not path.stem.startswith("_")]
    return sorted(set(found) - set(ASIDE))


def listed() -> set[str]:
    """Modules of which the reference shows all members."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES.glob("*.md"))
    return set(re.findall(r"automodule:: gnninterpreter\.([\w.]+)", text))


@pytest.mark.parametrize("name", packages())
def test_it_is_in_the_reference_and_says_what_it_is(name: str) -> None:
    module = importlib.import_module(f"gnninterpreter.{name}")
    assert name in listed(), f"docs/api has no page with gnninterpreter.{name}"
    assert module.__doc__
    for member in module.__all__:
        value = getattr(module, member)
        # To Python 3.10 an alias such as Callable[[int], bool] is a class.
        if get_origin(value) is None and (inspect.isclass(value) or inspect.isfunction(value)):
            assert value.__doc__, f"{name}.{member} has no docstring"


def test_the_reference_names_nothing_that_is_not_there() -> None:
    found = {name for name in listed() if find_spec(f"gnninterpreter.{name}") is not None}
    assert found == listed() != set()
