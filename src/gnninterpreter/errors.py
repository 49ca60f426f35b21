"""Errors a user can cause, each saying what was expected, what came and what to do next.

Every one is a ``ValueError`` under a common base, so that a command line can turn them into one
sentence and exit code 2, and a caller can catch them all. Failing to converge is not among them: it
is a result with a reason (see `gnninterpreter.search.Reason`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "CheckpointError",
    "DataError",
    "GNNInterpreterError",
    "MissingExtraError",
    "ModelError",
    "OutputError",
    "SpecError",
    "TargetError",
]


LONGEST = 1_000


class GNNInterpreterError(ValueError):
    """Base of every error that a user can cause and mend."""

    def __init__(self, message: str = "") -> None:
        """Keep a message to one line, and of a long one the beginning and the end."""
        message = " ".join(filter(None, map(str.strip, message.splitlines())))
        if len(message) > LONGEST:
            message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 4 :]}"
        super().__init__(message)


class SpecError(GNNInterpreterError):
    """A `GraphSpec` that is inconsistent, or that disagrees with the data or the model."""


class DataError(GNNInterpreterError):
    """A data set that is missing, empty, damaged or of the wrong kind."""


class ModelError(GNNInterpreterError):
    """A model that cannot be called, or whose output cannot be read as class scores."""


class TargetError(GNNInterpreterError, KeyError):
    """A class that does not exist, or that the data has no example of.

    Also a ``KeyError``, so that ``in`` and ``get`` work on the mapping that `explain` returns.
    """

    # A KeyError would put its message in quotes.
    __str__ = ValueError.__str__


class CheckpointError(GNNInterpreterError):
    """A checkpoint or run folder that cannot be read, or was written by something else."""


class OutputError(GNNInterpreterError):
    """A place to write to that cannot be written, or already holds a run."""


class MissingExtraError(GNNInterpreterError, ImportError):
    """An optional dependency that a feature needs and that is not installed."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package '{package}', which is not installed; "
            f"install it with: pip install 'gnninterpreter[{extra}]'"
        )


@contextmanager
def needs(package: str, extra: str, feature: str) -> Iterator[None]:
    """Say of imports in the block that fail which extra brings them."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(feature, package, extra) from error
