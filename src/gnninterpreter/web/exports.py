"""A graph from the editor as the text of a file."""

from __future__ import annotations

import itertools
import json
from typing import Any

import networkx as nx
from torch_geometric.data import Data

from gnninterpreter.chem import read_molecule
from gnninterpreter.errors import DataError
from gnninterpreter.graphs import to_networkx
from gnninterpreter.interchange import graph_to_json
from gnninterpreter.report.drawing import Drawing
from gnninterpreter.report.svg import render
from gnninterpreter.spec import GraphSpec

__all__ = ["FORMATS", "export_graph"]

FORMATS = ("json", "graphml", "svg", "smi")
FARTHEST = 1_000_000
Places = list[tuple[float, float]]


def export_graph(
    graph: Data, spec: GraphSpec, form: str, size: tuple[int, int], places: Any = None
) -> tuple[str, str]:
    """A graph as text in one of `FORMATS`, and its media type.

    A drawing keeps the places of the nodes in the editor, where they are given.
    """
    if form == "json":
        return json.dumps(graph_to_json(graph, spec)), "application/json"
    drawn = to_networkx(graph, spec)
    if form == "graphml":
        return "\n".join(nx.generate_graphml(drawn)), "application/xml"
    if form == "svg":
        arranged = None if places is None else _places(places, drawn.number_of_nodes())
        return _svg(drawn, spec, size, arranged), "image/svg+xml"
    if form == "smi":
        molecule = read_molecule(graph, spec)
        if molecule is None or not molecule.valid:
            why = f": {molecule.reason}" if molecule else ""
            raise DataError(f"this graph is no valid molecule, so it has no SMILES{why}")
        return molecule.smiles + "\n", "text/plain"
    raise DataError(f"format must be one of {', '.join(FORMATS)} (got {form!r})")


def _svg(graph: nx.Graph, spec: GraphSpec, size: tuple[int, int], places: Places | None) -> str:
    if places is None:
        return render(Drawing.of(graph, spec, size))
    arranged = dict(zip(graph.nodes, places, strict=True))
    return render(Drawing.arranged(graph, spec, size, arranged))


def _places(values: Any, count: int) -> Places:
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
