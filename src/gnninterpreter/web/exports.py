"""A graph from the editor as the text of a file."""

from __future__ import annotations

from typing import Any

from torch_geometric.data import Data

from gnninterpreter.arguments import one_of
from gnninterpreter.errors import DataError
from gnninterpreter.explanation.export import graph_text
from gnninterpreter.graphs import to_networkx
from gnninterpreter.report.drawing import Drawing
from gnninterpreter.report.svg import render
from gnninterpreter.schema import listed, number
from gnninterpreter.spec import GraphSpec

FORMATS = {
    "json": "application/json",
    "graphml": "application/xml",
    "svg": "image/svg+xml",
    "smi": "text/plain",
}
FARTHEST = 1_000_000


def export_graph(
    graph: Data, spec: GraphSpec, form: str, size: tuple[int, int], places: Any = None
) -> tuple[str, str]:
    """A graph as text in one of `FORMATS`, and its media type.

    A drawing keeps the places of the nodes in the editor, where they are given.
    """
    one_of("format", form, FORMATS, DataError)
    if form != "svg":
        return graph_text(graph, spec, form), FORMATS[form]
    drawn = to_networkx(graph, spec)
    if places is None:
        return render(Drawing.of(drawn, spec, size)), FORMATS[form]
    arranged = dict(zip(drawn.nodes, _places(places, len(drawn)), strict=True))
    return render(Drawing.arranged(drawn, spec, size, arranged)), FORMATS[form]


def _places(values: Any, count: int) -> list[tuple[float, float]]:
    """Check places that come from outside."""
    try:
        places = listed(listed(number(-FARTHEST, FARTHEST), 2), count)(values, "positions")
    except ValueError as error:
        raise DataError(str(error)) from error
    return [(float(x), float(y)) for x, y in places]
