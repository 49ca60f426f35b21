"""SMILES in: one molecule as a graph. `tables` reads many of them with labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.chem.elements import SYMBOLS, Atom
from gnninterpreter.chem.featurising import graph_of
from gnninterpreter.chem.molecules import problem_of, rdkit_chem
from gnninterpreter.chem.presets import Preset, preset
from gnninterpreter.chem.reading import Reading, reading_of
from gnninterpreter.errors import DataError
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.spec import Block, Derived, GraphSpec

LONGEST = 2000
"""Characters of a SMILES that are read; longer ones are no drugs."""


def parse_smiles(smiles: str) -> Any:
    """An RDKit molecule."""
    Chem = rdkit_chem("reading SMILES")
    from rdkit import rdBase

    text = str(smiles).strip()
    if not text or len(text) > LONGEST:
        raise DataError("the SMILES is empty" if not text else "the SMILES is too long")
    # Older ones can only be silenced.
    with getattr(rdBase, "CaptureErrorLog", rdBase.BlockLogs)() as log:
        molecule = Chem.MolFromSmiles(text, sanitize=False)
    if molecule is None:
        told = str(getattr(log, "messages", ""))
        said = re.search(r"Parse Error: (.+?)(?: while| for|$)", told, re.M)
        why = f": {said[1]}" if said else ""
        raise DataError(f"{text[:60]!r} is not written as SMILES are{why}")
    with rdBase.BlockLogs():
        wrong = problem_of(molecule)
        if wrong:
            raise DataError(f"{text[:60]!r} is no molecule: {wrong}")
        return Chem.MolFromSmiles(text)


def from_smiles(
    smiles: str, features: GraphSpec | Preset | str, *, hydrogens: bool | None = None
) -> Data:
    """A molecule as a graph.

    Args:
        smiles: The molecule; one in several parts stays in several parts.
        features: The spec of the graphs, or the featuriser that makes them (``"pyg"``, ``"ogb"``).
        hydrogens: Whether hydrogens become nodes; where the spec has such nodes when omitted.

    Example:
        >>> from_smiles("CCO", "pyg").x[:, 0].tolist()
        [6, 6, 8]

    Raises:
        DataError: If RDKit refuses it, or the spec has no such atoms or bonds.
        MissingExtraError: If RDKit is not installed.
    """
    molecule = parse_smiles(smiles)
    if not isinstance(features, GraphSpec):
        return graph_of(molecule, preset(features))
    reading = reading_of(features)
    if reading is None:
        raise DataError("SMILES need a spec whose nodes are named after elements")
    Chem = rdkit_chem()
    if hydrogens is None:
        hydrogens = reading.hydrogens and not reading.exact
    if hydrogens:
        molecule = Chem.AddHs(molecule)
    if "aromatic" not in reading.kinds:
        Chem.Kekulize(molecule, clearAromaticFlags=True)
    nodes = [_node(atom, reading, features) for atom in molecule.GetAtoms()]
    edges: list[list[Any]] = []
    for bond in molecule.GetBonds():
        ends = [bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]
        edges.append([*ends, _bond(bond, reading, features)] if features.edges else ends)
    return graph_from_json({"nodes": nodes, "edges": edges}, features)


def _node(atom: Any, reading: Reading, spec: GraphSpec) -> list[Any]:
    """The entry of an atom in JSON, one value for each block."""
    wanted = Atom(atom.GetSymbol(), atom.GetFormalCharge())
    known: dict[int, Any] = {reading.atom: _category(wanted, reading)}
    for column, word, value in (
        (reading.aromatic, "aromatic", int(atom.GetIsAromatic())),
        (reading.charge, "charge", wanted.charge),
    ):
        if column is None:
            continue
        if column.values is not None and value not in column.values:
            raise DataError(f"there is no {word} of {value} in the spec")
        block = spec.nodes[column.place]
        if column.values is None and getattr(block, "dim", 1) > 1:
            raise DataError(f"SMILES do not say what all of '{block.name}' of an atom is")
        told = [float(value)] if column.values is None else column.values.index(value)
        known[column.place] = told
    return _entry(spec.nodes, known, "an atom")


def _entry(blocks: Sequence[Block], known: Mapping[int, Any], of: str) -> list[Any]:
    """What is known by place; nothing for what is computed or constant."""
    for place, block in enumerate(blocks):
        free = not isinstance(block, Derived) and not getattr(block, "constant", False)
        if free and place not in known:
            raise DataError(f"SMILES do not say what '{block.name}' of {of} is")
    return [known.get(place) for place in range(len(blocks))]


def _category(wanted: Atom, reading: Reading) -> int:
    """The category of an atom; its charge counts where the names say charges."""
    apart = reading.charge is not None or not reading.charged
    for place, atom in enumerate(reading.atoms):
        if atom is None or atom.symbol != wanted.symbol or atom.hydrogens is not None:
            continue
        if apart or atom.charge == wanted.charge:
            return place
    name = wanted.symbol if apart else str(wanted)
    known = [str(atom) for atom in reading.atoms if atom is not None]
    listed = ", ".join(known[:20]) if len(known) < len(SYMBOLS) else "the elements"
    raise DataError(f"there is no atom {name} in the spec, which has {listed}")


def _bond(bond: Any, reading: Reading, spec: GraphSpec) -> list[Any]:
    kind, known = str(bond.GetBondType()).lower(), {}
    if reading.bond is not None:
        if kind not in reading.kinds:
            raise DataError(f"there is no {kind} bond in the spec")
        known[reading.bond] = reading.kinds.index(kind)
    return _entry(spec.edges, known, "a bond")
