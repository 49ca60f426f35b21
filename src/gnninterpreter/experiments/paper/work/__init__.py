"""The functions that compute: arguments in, plain JSON values out.

Each module has ``depends_on``, which names what its functions depend on beyond arguments and code:
files of models, settings of recipes, base graphs of data sets.
"""

__all__: list[str] = []
