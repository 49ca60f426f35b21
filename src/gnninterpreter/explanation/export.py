"""Writing a graph in the format that a file's ending asks for."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
from torch_geometric.data import Data

from gnninterpreter.errors import DataError, MissingExtraError, OutputError
from gnninterpreter.files import finite, write_atomically
from gnninterpreter.graphs import to_networkx
from gnninterpreter.interchange import graph_to_json
from gnninterpreter.spec import GraphSpec
from gnninterpreter.views import view

if TYPE_CHECKING:
    from gnninterpreter.explanation.explanation import Explanation


def export(explanation: Explanation, path: Path) -> Path:
    """Write the most probable graph as GraphML, JSON, SVG, PNG, PDF or SMILES."""
    ending = path.suffix.lower().removeprefix(".")
    if ending == "json":
        content = json.dumps(finite(explanation_json(explanation)), indent=1).encode()
    elif ending in ("graphml", "smi"):
        try:
            text = graph_text(explanation.best, explanation.spec, ending)
        except DataError as error:
            raise OutputError(f"{error}; export to .graphml or .json instead") from error
        named = f"{text.rstrip()} {explanation.name}\n" if ending == "smi" else text
        content = named.encode()
    elif ending == "svg":
        content = view("svg")(explanation.graph, explanation.spec).encode()
    elif ending in ("png", "pdf"):
        content = view("picture")(explanation, ending)
    else:
        raise OutputError(
            f"cannot export to {path.name}: end it in .graphml, .json, .svg, .png, .pdf or .smi"
        )
    return write_atomically(path, content)


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """Its numbers, its graph as `gnninterpreter.interchange` reads it, and what that means."""
    graph = graph_to_json(explanation.best, explanation.spec)
    return {**explanation.summary(), "graph": graph, "spec": explanation.spec.to_json()}


def graph_text(graph: Data, spec: GraphSpec, form: str) -> str:
    """A graph as ``"json"`` (see `gnninterpreter.interchange`), ``"graphml"`` or ``"smi"``."""
    from gnninterpreter.chem import is_molecular, read_molecule

    if form == "json":
        return json.dumps(graph_to_json(graph, spec))
    if form == "graphml":
        return "\n".join(nx.generate_graphml(to_networkx(graph, spec)))
    if not is_molecular(spec):
        raise DataError("only molecules have SMILES, and the nodes of this spec are not atoms")
    if find_spec("rdkit") is None:
        raise MissingExtraError("writing SMILES", "rdkit", "chem")
    molecule = read_molecule(graph, spec)
    if molecule is None or not molecule.valid:
        why = f" ({molecule.reason})" if molecule else ""
        raise DataError(f"this graph is no valid molecule, so it has no SMILES{why}")
    return f"{molecule.smiles}\n"
