"""How every command ends: what it came to, as text or as one JSON document, and its exit code.

A command returns an `Answer` and prints nothing itself. An error that a user can mend is one
sentence on standard error, never a traceback. Anything else is a fault of the library, and its
traceback is what a bug report needs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec

import typer

from gnninterpreter.cli.output import echo_json, only_results
from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.parallel import limit_threads

USER_ERROR = 2
# What a shell reports for a process that SIGINT ended: 128 + 2.
INTERRUPTED = 130

P = ParamSpec("P")


@dataclass(frozen=True)
class Answer:
    """What a command came to.

    Args:
        values: Gives what ``--json`` prints.
        show: Prints the same as text.
        files: What was written, by what it is; told in either form.
        code: Exit code.
    """

    values: Callable[[], Any]
    show: Callable[[], object] = lambda: None
    files: Mapping[str, Path] = field(default_factory=dict)
    code: int = 0


def plainly(command: Callable[P, Answer | None]) -> Callable[P, None]:
    """Run a command on one thread, unless it has ``threads``, and print its answer.

    Exit code 2 for a user's error, 130 for Ctrl-C.
    """

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        as_json = bool(kwargs.get("as_json"))
        threads: Any = kwargs.get("threads", 1)
        try:
            limit_threads(threads)
            with only_results(as_json):
                answer = command(*args, **kwargs) or Answer(lambda: None)
                values = answer.values() if as_json else None
            if as_json:
                echo_json(values)
            else:
                answer.show()
            for what, path in answer.files.items():
                typer.echo(f"{what}: {path.resolve()}", err=as_json)
        except GNNInterpreterError as error:
            # Messages of torch and the like come with line breaks inside.
            typer.echo(f"error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(USER_ERROR) from error
        except KeyboardInterrupt as interrupt:
            typer.echo(": ".join(["interrupted", *map(str, interrupt.args)]), err=True)
            raise typer.Exit(INTERRUPTED) from interrupt
        if answer.code:
            raise typer.Exit(answer.code)

    return guarded
