"""How a command fails: one sentence on standard error and an exit code, never a traceback.

Only errors that a user can mend are treated so. Anything else is a fault of the library, and its
traceback is what a bug report needs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from gnninterpreter.errors import GNNInterpreterError

USER_ERROR = 2
# What a shell reports for a process that SIGINT ended: 128 + 2.
INTERRUPTED = 130

P = ParamSpec("P")
T = TypeVar("T")


def plainly(command: Callable[P, T]) -> Callable[P, T]:
    """Make a command end with one sentence: exit code 2 for a user's error, 130 for Ctrl-C."""

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except GNNInterpreterError as error:
            # Messages of torch and the like come with line breaks inside.
            typer.echo(f"error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(USER_ERROR) from error
        except KeyboardInterrupt as interrupt:
            typer.echo(": ".join(["interrupted", *map(str, interrupt.args)]), err=True)
            raise typer.Exit(INTERRUPTED) from interrupt

    return guarded
