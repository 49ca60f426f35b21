"""A graph from the editor as the text of a file."""

from __future__ import annotations

import itertools
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.explanation.export import graph_text
from gnninterpreter.graphs import to_networkx
from gnninterpreter.report.drawing import Drawing
from gnninterpreter.report.svg import render
from gnninterpreter.spec import GraphSpec

__all__ = ["FORMATS", "export_graph"]

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
    if form not in FORMATS:
        raise DataError(f"format must be one of {', '.join(FORMATS)} (got {form!r})")
    if form != "svg":
        return graph_text(graph, spec, form), FORMATS[form]
    drawn = to_networkx(graph, spec)
    if places is None:
        return render(Drawing.of(drawn, spec, size)), FORMATS[form]
    arranged = dict(zip(drawn.nodes, _places(places, len(drawn)), strict=True))
    return render(Drawing.arranged(drawn, spec, size, arranged)), FORMATS[form]


def _places(values: Any, count: int) -> list[tuple[float, float]]:
    """Check places that come from outside."""
    if not isinstance(values, list) or len(values) != count:
        raise DataError(f'"positions" must be a list of {count} places, one for each node')
    if not all(isinstance(place, list) and len(place) == 2 for place in values):
        raise DataError('each of "positions" must be a list of two numbers')
    for number in itertools.chain(*values):
        real = isinstance(number, (int, float)) and not isinstance(number, bool)
        if not real or not -FARTHEST <= number <= FARTHEST:
            raise DataError(
                f"a place must lie between -{FARTHEST} and {FARTHEST} (got {number!r:.40})"
            )
    return [(float(x), float(y)) for x, y in values]
