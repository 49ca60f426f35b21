"""What a model was trained to say: one class of several, yes or no, several labels, a number."""

from __future__ import annotations

from enum import Enum

__all__ = ["Task"]


class Task(str, Enum):
    """How a row of outputs is read.

    Everything downstream sees one row of C numbers for each graph. A binary model with one output
    is read as one with two classes, so that its rows have two.
    """

    MULTICLASS = "multiclass"
    BINARY = "binary"
    MULTILABEL = "multilabel"
    REGRESSION = "regression"

    def __str__(self) -> str:
        return self.value

    @property
    def exclusive(self) -> bool:
        """Whether a graph has exactly one of the classes."""
        return self in (Task.MULTICLASS, Task.BINARY)
