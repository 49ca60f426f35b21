"""Writing a single explanation graph in the format that a file's ending asks for."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx

from gnninterpreter.errors import OutputError
from gnninterpreter.explanation.storage import write_atomically

if TYPE_CHECKING:
    from gnninterpreter.explanation.explanation import Explanation

__all__ = ["export"]


def export(explanation: Explanation, path: Path) -> Path:
    """Write the most probable graph as GraphML, node-link JSON or SVG.

    Raises:
        OutputError: If the ending is not one of these, or the place cannot be written.
    """
    ending = path.suffix.lower()
    if ending == ".graphml":
        buffer = BytesIO()
        nx.write_graphml(explanation.graph, buffer)
        content = buffer.getvalue()
    elif ending == ".json":
        content = json.dumps(nx.node_link_data(explanation.graph, edges="edges"), indent=1).encode()
    elif ending == ".svg":
        from gnninterpreter.report.drawing import graph_svg

        content = graph_svg(explanation.graph, explanation.spec).encode()
    else:
        raise OutputError(f"cannot export to {path.name}: end it in .graphml, .json or .svg")
    return write_atomically(path, content)
