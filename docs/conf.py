"""Settings of the documentation."""

import os

from gnninterpreter._version import __version__

project = "gnninterpreter"
author = "The gnninterpreter developers"
release = __version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build", "jupyter_execute"]

html_theme = "furo"
html_title = f"gnninterpreter {release}"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# Only pages that say so are notebooks; each is run when the pages are made, and must not fail.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True
# That a bar has no widget to draw itself with is no news to readers, nor is where tqdm lies.
os.environ.setdefault("PYTHONWARNINGS", "ignore:IProgress not found")

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True
