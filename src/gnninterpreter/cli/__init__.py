"""The command line: the last arrow of the flow, and the only place that prints.

One module a command; `gnninterpreter.cli.app` puts them together. Nothing here imports torch before
a command runs, so that ``gnninterpreter --help`` answers at once.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the ``gnninterpreter`` command."""
    from gnninterpreter.cli.app import run

    run()
