"""Measuring the library itself: the paper's evaluation, robustness over seeds, a zoo of models.

Only the command line imports this.
"""

__all__: list[str] = []
