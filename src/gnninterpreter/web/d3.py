"""Where the page's drawing library comes from: D3, as an installed package ships it.

The page needs D3 for its force layout, zoom, drag and data joins. It is served from the package
``mpld3``, whose wheel holds it as one plain file (BSD licence), so that no foreign source is kept
in this repository and nothing is fetched from the network when the page opens.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from gnninterpreter.errors import MissingExtraError

PACKAGE = "mpld3"
FILE = "js/d3.v5.min.js"


def d3_script() -> Path:
    """The script on this machine."""
    # Found without importing the package, which would load matplotlib for nothing.
    found = find_spec(PACKAGE)
    folders = [] if found is None else list(found.submodule_search_locations or [])
    for folder in folders:
        script = Path(folder) / FILE
        if script.is_file():
            return script
    raise MissingExtraError("the live page", PACKAGE, "web")
