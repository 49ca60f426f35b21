"""The files beside the page, and its templates: what is HTML lies there, what is Python here."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(name: str, **values: Any) -> Markup:
    """A template filled in; everything that is not markup is escaped."""
    return Markup(_environment().get_template(name).render(**values))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page_script() -> str:
    """What makes the page answer."""
    return asset("files.js") + asset("page.js")


def asset(name: str) -> str:
    """The text of a file that belongs to the page."""
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")
