"""Molecules from SMILES as graphs: one node an atom, its kind the element with its charge.

Bonds are those of a Kekule structure, so that the valence of an atom is the sum of its bonds.
Hydrogens are not nodes: valence says how many there are. Needs RDKit (extra ``chem``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.errors import MissingExtraError

__all__ = ["BONDS", "atom_kind", "read_smiles"]

BONDS = ("single", "double", "triple")


def atom_kind(atom: Any) -> str:
    """Name of an RDKit atom's kind: its element, with a sign for each charge."""
    charge = atom.GetFormalCharge()
    return str(atom.GetSymbol()) + ("+" if charge > 0 else "-") * abs(charge)


def read_smiles(
    rows: Iterable[tuple[str, Tensor]], atoms: tuple[str, ...], notes: Counter[str]
) -> Iterator[Data]:
    """Read molecules, leaving out those that cannot be graphs of the given kinds of atoms.

    Args:
        rows: SMILES and label of each molecule.
        atoms: The kinds of atoms there are.
        notes: Counts what was left out or changed, and why.

    Yields:
        A graph for each molecule; of salts and mixtures the part with the most atoms.

    Raises:
        MissingExtraError: If RDKit is not installed.
    """
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise MissingExtraError("reading SMILES", "rdkit", "chem") from error
    places = {name: place for place, name in enumerate(atoms)}
    for text, label in rows:
        with rdBase.BlockLogs():  # it would print why it refuses a molecule
            molecule = Chem.MolFromSmiles(text.strip()) if text.strip() else None
        if molecule is None:
            notes["left out: refused by RDKit"] += 1
            continue
        parts = Chem.GetMolFrags(molecule, asMols=True)
        molecule = max(parts, key=lambda part: part.GetNumAtoms())
        # One molecule has one Kekule structure, however it was written; stereo is not told apart.
        molecule = Chem.MolFromSmiles(Chem.MolToSmiles(molecule, isomericSmiles=False))
        Chem.Kekulize(molecule, clearAromaticFlags=True)
        kinds = [places.get(atom_kind(atom), -1) for atom in molecule.GetAtoms()]
        ends = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in molecule.GetBonds()]
        orders = [str(b.GetBondType()).lower() for b in molecule.GetBonds()]
        if min(kinds) < 0 or not set(orders) <= set(BONDS):
            notes["left out: atoms or bonds of rare kinds"] += 1
            continue
        if len(parts) > 1:
            notes["only the largest part kept"] += 1
        bonds = torch.eye(len(BONDS))[[BONDS.index(order) for order in orders]]
        yield undirected_graph(
            len(kinds), ends, label, x=torch.eye(len(atoms))[kinds], edge_attr=bonds
        )
