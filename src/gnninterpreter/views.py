"""How a value is shown by packages on its right, which it must not import.

An explanation can be drawn, and a set of them written as a page; but drawing is the business of
`report`, which comes after `explanation` in the flow. So the package that shows a value provides a
view here under a name, and the value looks it up when it is asked to show itself. Data that may be
molecules is read likewise: `chem`, on the right of `spec`, is asked, whatever was imported before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_views: dict[str, Callable[..., Any]] = {}


def provide(name: str, how: Callable[..., Any]) -> None:
    """Provide a view; a later one of the same name takes its place."""
    _views[name] = how


def view(name: str) -> Callable[..., Any]:
    """Look a view up.

    Raises:
        KeyError: If nobody provides it, which `import gnninterpreter` does.
    """
    return _views[name]
