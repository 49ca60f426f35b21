"""How a value is shown by packages on its right, which it must not import.

An explanation can be drawn, and a set of them written as a page; but drawing is the business of
`report`, which comes after `explanation` in the flow. So the package that shows a value is named
here, and the value looks it up when it is asked to show itself. Data that may be molecules is read
likewise: `chem`, on the right of `spec`, is asked, whatever was imported before.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

# In the order of the flow; imported on use.
_VIEWS = {
    "molecules": ("chem.recognition", "spec_of"),
    "named molecules": ("chem.naming", "name_by_smiles"),
    "derived": ("chem.featurising", "register"),
    "draw": ("report", "draw"),
    "picture": ("report.drawing", "picture"),
    "svg": ("report.drawing", "graph_svg"),
    "comparison": ("report.comparison", "write_comparison"),
    "card": ("report", "card_html"),
    "cards": ("report", "cards_html"),
    "page": ("report", "report_run"),
    "progress": ("cli.progress", "LiveProgress"),
}


def view(name: str) -> Callable[..., Any]:
    """Look a view up."""
    module, function = _VIEWS[name]
    found: Callable[..., Any] = getattr(import_module(f"gnninterpreter.{module}"), function)
    return found
