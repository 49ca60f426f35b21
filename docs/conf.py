"""Settings of the documentation."""

from gnninterpreter._version import __version__

project = "gnninterpreter"
author = "The gnninterpreter developers"
release = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"gnninterpreter {release}"
exclude_patterns = ["_build"]
