"""What the page offers to take away: the graph as GraphML, and with its numbers as JSON."""

from __future__ import annotations

from typing import Any

import networkx as nx

from gnninterpreter.chem import Molecule
from gnninterpreter.explanation import Explanation
from gnninterpreter.explanation.export import explanation_json
from gnninterpreter.report.drawing import Drawing
from gnninterpreter.report.legend import legend_group


def payload(
    explanation: Explanation, drawing: Drawing, molecule: Molecule | None = None
) -> dict[str, Any]:
    """Texts of the files that the page's buttons write; drawings are taken from the page itself."""
    smiles = {"smi": f"{molecule.smiles} {explanation.name}"} if molecule and molecule.valid else {}
    # The page has a legend of its own; a drawing that leaves it takes this one along.
    group, room = legend_group(drawing.legend(), *drawing.size)
    return {
        **smiles,
        "legend": {"group": group, "height": room},
        "name": explanation.name,
        "graphml": "\n".join(nx.generate_graphml(explanation.graph)),
        "json": explanation_json(explanation),
    }
