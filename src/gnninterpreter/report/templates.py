"""The files beside the page, and its templates: what is HTML lies there, what is Python here."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment

_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def rendered(name: str, **values: Any) -> Markup:
    """A template filled in; everything that is not markup is escaped."""
    return Markup(_environment().get_template(name).render(**values))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["xml"] = _xml
    return made


def _source(name: str) -> str:
    # A drawing is one line: browsers would show the breaks between its parts.
    return re.sub(r"\n\s*", "", asset(name)) if name.endswith(".svg.jinja") else asset(name)


def _xml(value: object) -> Markup:
    """Any text, safe inside XML: escaped, and without characters that XML has no place for."""
    return Markup(escape(_FORBIDDEN.sub("\ufffd", str(value))))


def page_script() -> str:
    """What makes the page answer."""
    return asset("files.js") + asset("page.js")


def asset(name: str) -> str:
    """The text of a file that belongs to the page."""
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")
