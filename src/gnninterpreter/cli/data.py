"""``gnninterpreter data``: the data sets and their figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gnninterpreter.cli.answering import Answer, plainly
from gnninterpreter.cli.options import Json
from gnninterpreter.cli.output import print_table

data = typer.Typer(name="data", help="Look at the data sets.", no_args_is_help=True)


@data.command(name="stats")
@plainly
def stats(
    name: Annotated[str, typer.Argument(help="Name of a data set, or `all`.")],
    root: Annotated[Path | None, typer.Option("--root", help="Folder for the data.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the generator.")] = 0,
    oracle: Annotated[
        int | None, typer.Option("--oracle", help="Graphs to ask the rule about; all when omitted.")
    ] = None,
    as_json: Json = False,
) -> Answer:
    """Count the graphs, nodes, edges and classes of a data set, and ask its rule.

    A data set that is not there yet is generated first, which takes up to half a minute.
    """
    from gnninterpreter import datasets
    from gnninterpreter.datasets.summary import summarize

    names = datasets.NAMES if name == "all" else (name,)
    rows = [
        summarize(datasets.load(each, root, seed, progress=not as_json), oracle_graphs=oracle)
        for each in names
    ]
    return Answer(lambda: rows if name == "all" else rows[0], lambda: _echo_table(rows))


def _echo_table(rows: list[dict[str, Any]]) -> None:
    cells = [
        [
            row["name"],
            "\n".join(f"{name}: {count}" for name, count in row["classes"].items()),
            _features(row),
            f"{row['graphs']:,}",
            f"{row['mean_edges']:.2f}",
            f"{row['mean_nodes']:.2f}",
            "" if row["oracle_agreement"] is None else f"{row['oracle_agreement']:.1%}",
        ]
        for row in rows
    ]
    columns = {"name": "left", "classes": "left", "features": "fold"}
    columns |= dict.fromkeys(("graphs", "edges", "nodes", "oracle"), "right")
    caption = "edges and nodes are means; oracle: how often the rule agrees with the label"
    print_table("Data sets", columns, cells, caption=caption, lines=True)


def _features(row: dict[str, Any]) -> str:
    parts = [
        f"{kind}: {', '.join(row[f'{kind}_features'])}"
        for kind in ("node", "edge")
        if row[f"{kind}_features"]
    ]
    return "\n".join(parts)
