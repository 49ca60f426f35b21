"""The ``gnninterpreter`` command: which commands there are, and how any of them fails."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gnninterpreter._version import __version__
from gnninterpreter.cli.audit import audit
from gnninterpreter.cli.bench import bench
from gnninterpreter.cli.compare import compare
from gnninterpreter.cli.explain import demo, explain
from gnninterpreter.cli.listing import data, models
from gnninterpreter.cli.output import plainly
from gnninterpreter.cli.paper import paper
from gnninterpreter.cli.stored import report, serve
from gnninterpreter.cli.sweep import sweep, tune
from gnninterpreter.cli.train import train

app = typer.Typer(
    name="gnninterpreter",
    help="Show what a trained graph neural network has really learned.",
    epilog="Start with `gnninterpreter demo`, or with `gnninterpreter explain --help`.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=True,
)

for command in (explain, demo, report, audit, compare, sweep, tune, serve, models, train, paper):
    app.command(name=command.__name__)(plainly(command))
for group in (data, bench):
    app.add_typer(group)


def run() -> None:
    """Run the command line with the arguments of the process."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets a question mark instead of a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app(prog_name="gnninterpreter")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gnninterpreter {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Take the options that stand before any command."""
