"""The report: one self-contained HTML file that opens offline, from disk, in any browser."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from gnninterpreter.explanation.storage import write_atomically
from gnninterpreter.report.content import class_view, repeat_command

if TYPE_CHECKING:
    from gnninterpreter.explanation import ExplanationSet
    from gnninterpreter.report.extras import ClassExtras

__all__ = ["render_page", "write_report"]


def write_report(
    result: ExplanationSet,
    path: str | Path,
    extras: Mapping[str, ClassExtras] | None = None,
) -> Path:
    """Write the report of a run.

    Args:
        result: What was explained.
        path: Where to; an existing file is replaced.
        extras: By class name, what the live model says besides, as `compute_extras` gives it.

    Returns:
        The path.

    Raises:
        OutputError: If the place cannot be written.
    """
    return write_atomically(Path(path), render_page(result, extras).encode())


def render_page(result: ExplanationSet, extras: Mapping[str, ClassExtras] | None = None) -> str:
    """The text of the report; the same result gives the same text."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    known = extras or {}
    return environment.get_template("page.html.jinja").render(
        result=result,
        classes=[class_view(explanation, known.get(name)) for name, explanation in result.items()],
        command=repeat_command(result),
        style=Markup(_asset("page.css")),
        script=Markup(_asset("page.js")),
    )


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")
