"""Explanations that are molecules: the skeletal formula, SMILES and whether chemistry allows it.

RDKit (extra ``chem``) draws and judges; without it, or for graphs that are no molecules, there is
nothing to add and the report goes without.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gnninterpreter.datasets.molecules import is_valid_molecule, to_rdkit
from gnninterpreter.datasets.mutag import ATOMS
from gnninterpreter.spec import Categorical, GraphSpec

if TYPE_CHECKING:
    from torch_geometric.data import Data

__all__ = ["Molecule", "is_molecular", "read_molecule"]

SIZE = (300, 210)
HIGHLIGHT = (0.96, 0.62, 0.38)


@dataclass(frozen=True)
class Molecule:
    """A graph read as a molecule.

    Args:
        valid: Whether RDKit accepts it: connected, with possible valencies.
        smiles: Its SMILES; empty where it is not valid.
        drawing: Its skeletal formula as an SVG element; empty where it is not valid.
    """

    valid: bool
    smiles: str
    drawing: str


def is_molecular(spec: GraphSpec) -> bool:
    """Whether the nodes are the atoms that the library knows how to read."""
    block = spec.nodes[0]
    return len(spec.nodes) == 1 and isinstance(block, Categorical) and block.names == ATOMS


def read_molecule(graph: Data, spec: GraphSpec, marked: Collection[int] = ()) -> Molecule | None:
    """Read a graph as a molecule; None where it is none or RDKit is missing.

    Args:
        graph: The graph.
        spec: What its features mean.
        marked: Nodes to highlight in the drawing, with the bonds between them.
    """
    if not is_molecular(spec) or find_spec("rdkit") is None or not graph.num_nodes:
        return None
    if not is_valid_molecule(graph):
        return Molecule(False, "", "")
    from rdkit import Chem
    from rdkit.Chem.Draw import rdMolDraw2D

    molecule = to_rdkit(graph)
    Chem.SanitizeMol(molecule)
    canvas = rdMolDraw2D.MolDraw2DSVG(*SIZE)
    options: Any = canvas.drawOptions()
    options.clearBackground = False
    options.useBWAtomPalette()
    if marked:
        options.setHighlightColour(HIGHLIGHT)
    rdMolDraw2D.PrepareAndDrawMolecule(
        canvas,
        molecule,
        highlightAtoms=sorted(marked),
        highlightBonds=[
            bond.GetIdx()
            for bond in molecule.GetBonds()
            if bond.GetBeginAtomIdx() in marked and bond.GetEndAtomIdx() in marked
        ],
    )
    canvas.FinishDrawing()
    return Molecule(True, str(Chem.MolToSmiles(molecule)), _element(canvas.GetDrawingText()))


def _element(document: str) -> str:
    """The bare element of an SVG document, in the colour of the text around it."""
    element = document[document.index("<svg") :].replace("#000000", "currentColor").strip()
    element = re.sub(r"\s*xmlns:(?:rdkit|xlink)='[^']*'|\s*xml:space='[^']*'", "", element)
    return re.sub(r"<!--.*?-->", "", element, flags=re.DOTALL).replace("\n", " ")
