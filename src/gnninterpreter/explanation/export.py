"""Writing a single explanation graph in the format that a file's ending asks for."""

from __future__ import annotations

import json
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx

from gnninterpreter.errors import MissingExtraError, OutputError
from gnninterpreter.files import write_atomically
from gnninterpreter.views import view

if TYPE_CHECKING:
    from gnninterpreter.explanation.explanation import Explanation

__all__ = ["export"]


def export(explanation: Explanation, path: Path) -> Path:
    """Write the most probable graph as GraphML, node-link JSON, SVG, PNG, PDF or SMILES."""
    ending = path.suffix.lower()
    if ending == ".graphml":
        buffer = BytesIO()
        nx.write_graphml(explanation.graph, buffer)
        content = buffer.getvalue()
    elif ending == ".json":
        content = json.dumps(nx.node_link_data(explanation.graph, edges="edges"), indent=1).encode()
    elif ending == ".svg":
        content = view("svg")(explanation.graph, explanation.spec).encode()
    elif ending in (".png", ".pdf"):
        content = view("picture")(explanation, ending.removeprefix("."))
    elif ending == ".smi":
        content = _smiles(explanation).encode()
    else:
        raise OutputError(
            f"cannot export to {path.name}: end it in .graphml, .json, .svg, .png, .pdf or .smi"
        )
    return write_atomically(path, content)


def _smiles(explanation: Explanation) -> str:
    from gnninterpreter.chem import is_molecular, read_molecule

    if not is_molecular(explanation.spec):
        raise OutputError(
            "only molecules have SMILES, and the nodes of this spec are not atoms; "
            "export to .graphml or .json instead"
        )
    if find_spec("rdkit") is None:
        raise MissingExtraError("writing SMILES", "rdkit", "chem")
    molecule = read_molecule(explanation.best, explanation.spec)
    if molecule is None or not molecule.valid:
        raise OutputError(
            f"the graph of class {explanation.name!r} is no valid molecule, so it has no SMILES"
            f"{f' ({molecule.reason})' if molecule else ''}; "
            "export to .graphml or .json instead"
        )
    return f"{molecule.smiles} {explanation.name}\n"
