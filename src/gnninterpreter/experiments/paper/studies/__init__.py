"""One module for each part of the paper's evaluation, each with one function ``study``.

None is imported before it runs; `gnninterpreter.experiments.paper.STUDIES` has their names.
"""

__all__: list[str] = []
