"""The table of ``gnninterpreter bench realism``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["echo_realism"]

# Heading, column of the summary, and how it is written.
COLUMNS = (
    ("runs", "runs", "{:.0f}"),
    ("sure", "certain", "{:.0%}"),
    ("rule", "rule", "{:.0%}"),
    ("core", "core", "{:.0%}"),
    ("modes", "modes", "{:.0%}"),
    ("place", "placed", "{:.0%}"),
    ("whole", "placed_whole", "{:.0%}"),
    ("s.sure", "samples_certain", "{:.0%}"),
    ("s.place", "samples_placed", "{:.0%}"),
    ("s.whole", "samples_placed_whole", "{:.0%}"),
    ("of 50", "distinct", "{:.0f}"),
    ("PGD", "polygraph", "{:.2f}"),
    ("score", "score", "{:.2f}"),
    ("valid", "valid", "{:.0%}"),
    ("copy", "copy", "{:.0%}"),
    ("s.copy", "copy_samples", "{:.0%}"),
    ("nodes", "nodes", "{:.0f}"),
    ("real", "real_nodes", "{:.0f}"),
    ("s", "seconds", "{:.1f}"),
)
WIDTH = 160
CAPTION = (
    "shares of runs: sure, certain and in one piece; rule and core, the rule agrees; place, at "
    "least 0.1 under random GINs; whole, the same among "
    "whole graphs where pieces are compared; copy, a real graph. s.: shares of 50 samples; "
    "of 50: distinct; "
    "PGD: PolyGraph's discrepancy; score: GIN-Graph's validation score; nodes and s: medians; "
    "-: not measured"
)


def echo_realism(summary: pd.DataFrame) -> None:
    """Print a summary of realism rows, and what is asked for and not reached."""
    from rich.console import Console
    from rich.table import Table

    from gnninterpreter.experiments.realism.summary import unmet

    if not len(summary):
        typer.echo("no rows: none of the methods has anything to say about these models")
        return
    # A terminal that is too narrow would leave figures out.
    console = Console(width=max(Console().width, WIDTH))
    for method in summary.method.unique():
        table = Table(title=f"Realism: {method}", title_justify="left", box=None, padding=(0, 1))
        table.add_column("class", no_wrap=True)
        for heading, _, _ in COLUMNS:
            table.add_column(heading, justify="right", no_wrap=True)
        for row in summary[summary.method == method].to_dict("records"):
            cells = [_cell(form, row[name]) for _, name, form in COLUMNS]
            table.add_row(f"{row['model']} {row['class']}", *cells)
        console.print(table)
    typer.echo(CAPTION)
    for line in unmet(summary):
        typer.echo(f"not reached: {line}")


def _cell(form: str, value: float) -> str:
    return "-" if math.isnan(value) else form.format(value)
