"""Graphs drawn as chemists draw molecules: skeletal formulas, and places for their atoms.

RDKit (extra ``chem``) draws and judges; without it, or for graphs that are no molecules, there is
nothing to add and the report goes without.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import Any

import networkx as nx
from torch_geometric.data import Data

from gnninterpreter.chem.elements import SYMBOLS, Atom, colour, parse_atom
from gnninterpreter.chem.molecules import build, problem, to_rdkit
from gnninterpreter.chem.naming import known_molecule
from gnninterpreter.chem.reading import ORDERS, reading_of
from gnninterpreter.spec import GraphSpec

SIZE = (300, 210)
# In pixels: pieces of a few atoms are not blown up.
LONGEST_BOND = 44
HIGHLIGHT = (0.96, 0.62, 0.38)
BOND_LENGTH = 1.5
# Atoms nearer than this to each other, in bond lengths, would cover each other.
CROWDED = 0.6
# Graphs of more edges are drawn as graphs: nobody reads them as molecules.
MOST_EDGES = 200
UNKNOWN_BONDS = (
    "The features do not say which bonds are double: all are drawn as single ones, but in real "
    "molecules that brought their SMILES."
)


@dataclass(frozen=True)
class Molecule:
    """A graph read as a molecule.

    SMILES and drawing, an SVG element, are empty where RDKit does not accept it, for which there is
    a reason; a piece of a molecule is drawn all the same.
    """

    valid: bool
    smiles: str
    drawing: str
    reason: str = ""
    note: str = ""


def read_molecule(
    graph: Data,
    spec: GraphSpec,
    marked: Collection[int] = (),
    *,
    piece: bool = False,
    size: tuple[int, int] = SIZE,
    free: Collection[int] = (),
    numbered: Collection[int] = (),
) -> Molecule | None:
    """Read a graph as a molecule; None where it is none or RDKit is missing.

    ``marked`` nodes are highlighted with the bonds between them, ``numbered`` ones get their
    number, and ``free`` ones may be any atom, ``*`` in SMILES. Of a ``piece`` that is cut out of a
    molecule open valencies are no hydrogens, and a ring may be cut open.
    """
    reading = reading_of(spec)
    if reading is None or find_spec("rdkit") is None or not graph.num_nodes:
        return None
    known = known_molecule(graph) if reading.bond is None else None
    broken = "" if known else problem(graph, spec, whole=False)
    if broken and not (piece and "aromatic" in broken):
        return Molecule(False, "", "", broken)
    # One in several parts, such as a salt, is drawn all the same.
    wrong = "" if known else broken or problem(graph, spec)
    from rdkit import Chem, rdBase

    molecule = known or to_rdkit(graph, spec)
    for atom in molecule.GetAtoms():
        atom.SetNoImplicit(piece or atom.GetNoImplicit())
        if atom.GetIdx() in marked:
            atom.SetBoolProp("marked", True)
        if atom.GetIdx() in numbered:
            atom.SetProp("atomNote", str(atom.GetIdx()))
        if atom.GetIdx() in free:
            atom.SetAtomicNum(0)
            atom.SetFormalCharge(0)
            atom.SetProp("_displayLabel", "any")
    if broken:
        molecule.UpdatePropertyCache(strict=False)
        Chem.FastFindRings(molecule)
    else:
        Chem.SanitizeMol(molecule)
        with rdBase.BlockLogs():  # hydrogens without neighbours stay, which it would print
            molecule = Chem.RemoveHs(molecule)
        if piece:
            for atom in molecule.GetAtoms():
                atom.SetNumRadicalElectrons(0)
    written = "" if wrong else str(Chem.MolToSmiles(molecule))
    note = UNKNOWN_BONDS if reading.bond is None and not known else ""
    return Molecule(not wrong, written, _drawn(molecule, size), wrong, note)


def formula_svg(graph: Data, spec: GraphSpec, title: str, **options: Any) -> str | None:
    """The skeletal formula of a graph with a title; None where it is drawn as a graph."""
    molecule = read_molecule(graph, spec, **options)
    if molecule is None or not molecule.drawing:
        return None
    said = f'<svg role="img" aria-label="{escape(title)}"'
    return molecule.drawing.replace("<svg", said, 1)


def places(graph: nx.Graph, spec: GraphSpec) -> dict[Hashable, tuple[float, float]] | None:
    """Where RDKit puts the atoms, in bond lengths; None for other graphs, and without RDKit."""
    reading = reading_of(spec)
    if reading is None or find_spec("rdkit") is None or not 0 < len(graph.edges) <= MOST_EDGES:
        return None
    from rdkit.Chem import rdDepictor

    number = {node: i for i, node in enumerate(graph)}
    atoms = [
        parse_atom(str(name)) or Atom("C") for _, name in graph.nodes(spec.nodes[reading.atom].name)
    ]
    named = "" if reading.bond is None else spec.edges[reading.bond].name
    bonds: dict[tuple[int, int], str | None] = {}
    for u, v, name in graph.edges(data=named, default="single"):
        ends = sorted((number[u], number[v]))
        bonds[ends[0], ends[1]] = str(name).lower() if str(name).lower() in ORDERS else "single"
    molecule = build(atoms, bonds)
    molecule.UpdatePropertyCache(strict=False)
    try:
        rdDepictor.Compute2DCoords(molecule)
    except (RuntimeError, ValueError):
        return None
    at = molecule.GetConformer().GetPositions()[:, :2] / BOND_LENGTH
    apart = ((at[:, None] - at[None]) ** 2).sum(-1) ** 0.5
    if min(apart[i, j] for i in range(len(at)) for j in range(i)) < CROWDED:
        # No molecule that could lie flat; atoms would cover each other.
        return None
    return {node: (float(at[i, 0]), -float(at[i, 1])) for node, i in number.items()}


def _drawn(molecule: Any, size: tuple[int, int]) -> str:
    from rdkit import rdBase
    from rdkit.Chem.Draw import rdMolDraw2D

    marked = [atom.GetIdx() for atom in molecule.GetAtoms() if atom.HasProp("marked")]
    canvas = rdMolDraw2D.MolDraw2DSVG(*size)
    options: Any = canvas.drawOptions()
    options.clearBackground = False
    options.fixedBondLength = LONGEST_BOND
    options.setAtomPalette({-1: _rgb("#6F8FA6"), 0: _rgb("#7a8591"), **_palette()})
    if marked:
        options.setHighlightColour(HIGHLIGHT)
    inside = set(marked)
    bonds = [
        bond.GetIdx()
        for bond in molecule.GetBonds()
        if bond.GetBeginAtomIdx() in inside and bond.GetEndAtomIdx() in inside
    ]
    with rdBase.BlockLogs():
        try:
            made = rdMolDraw2D.PrepareMolForDrawing(molecule)
        except ValueError:  # a ring that was cut open has no single and double bonds
            made = rdMolDraw2D.PrepareMolForDrawing(molecule, kekulize=False)
    canvas.DrawMolecule(made, highlightAtoms=marked, highlightBonds=bonds)
    canvas.FinishDrawing()
    return _element(canvas.GetDrawingText())


def _palette() -> dict[int, tuple[float, float, float]]:
    found = {z: _rgb(colour(symbol) or "") for z, symbol in enumerate(SYMBOLS, 1)}
    return found | {6: (0.0, 0.0, 0.0)}  # written in the colour of the text around it


def _rgb(code: str) -> tuple[float, float, float]:
    red, green, blue = (int(code[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue


def _element(document: str) -> str:
    """The bare element of an SVG document, in the colour of the text around it."""
    element = document[document.index("<svg") :].replace("#000000", "currentColor").strip()
    element = re.sub(r"\s*xmlns:(?:rdkit|xlink)='[^']*'|\s*xml:space='[^']*'", "", element)
    return re.sub(r"<!--.*?-->", "", element, flags=re.DOTALL).replace("\n", " ")
