"""What RDKit says of atoms and bonds: each structure is built, sanitized and read once, and kept.

The search asks about thousands of graphs, most of them again and again: whether chemistry allows
them, and what their columns are. A structure is known by the numbers of its atoms and bonds, and
what is said of an atom or a bond by one number, so that columns are looked up for all graphs at
once. Molecules that RDKit refuses get what it says of them without judging; that they are no
answers is for the objective to say.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnninterpreter.chem.elements import Atom
from gnninterpreter.chem.molecules import build, mended, rdkit_installed
from gnninterpreter.chem.presets import PROPERTIES
from gnninterpreter.chem.reading import KINDS, Reading
from gnninterpreter.errors import DataError

UNKNOWN = 0
"""The number of an atom or a bond of which nothing is said."""
MOST = 100_000
"""Structures that are kept before all are forgotten."""

Array = NDArray[np.int64]
Bonds = tuple[tuple[int, int, str | None], ...]


class Vocabulary:
    """What has been said so far of ``"atoms"`` or ``"bonds"``: each combination has a number."""

    def __init__(self, of: str, names: tuple[str, ...]) -> None:
        self.names = names
        self.said: list[tuple[Any, ...] | None] = [None]
        self._read = [PROPERTIES[of][name] for name in names]
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._lock = threading.Lock()

    def number(self, item: Any) -> int:
        """The number of what is said of an atom or a bond of RDKit's."""
        values = tuple([read(item) for read in self._read])
        found = self._numbers.get(values)
        if found is None:
            with self._lock:  # Searches of the live page share what was said.
                found = self._numbers.get(values)
                if found is None:
                    self.said.append(values)
                    found = self._numbers[values] = len(self.said) - 1
        return found


@dataclass(frozen=True)
class Said:
    """What RDKit says of a structure: whether it is a molecule, and numbers of atoms and bonds.

    ``alike``: it is one whose aromatic bonds are those that were said to be. Numbers may be left
    out where nobody has asked for them.
    """

    allowed: bool
    alike: bool
    numbers: tuple[Array, Array] | None = None


class Structures:
    """The structures of one reading, and what is said of their atoms and bonds."""

    def __init__(self, reading: Reading, atoms: tuple[str, ...], bonds: tuple[str, ...]) -> None:
        self.reading = reading
        self.vocabularies = {
            "atoms": Vocabulary("atoms", atoms),
            "bonds": Vocabulary("bonds", bonds),
        }
        self._bonding = not {"donor", "acceptor"}.isdisjoint(atoms)
        self._known: dict[tuple[bytes, bytes], Said] = {}
        self._atoms: dict[tuple[int, int], Atom | None] = {}

    def said_of(
        self,
        atoms: Array,
        bonds: Array,
        sizes: Sequence[int],
        counts: Sequence[int],
        columns: bool = True,
    ) -> list[Said]:
        """What is said of structures one after the other.

        Args:
            atoms: Category of the element and charge of each atom, [atoms, 2].
            bonds: Its two atoms by their place in the structure, the lesser first, and the number
                of its kind, [bonds, 3]; in order.
            sizes: Number of atoms of each structure.
            counts: Number of bonds of each structure.
            columns: Whether numbers are asked for, too.
        """
        if len(self._known) > MOST:
            self._known.clear()
        found = []
        places = np.cumsum([0, *sizes]).tolist(), np.cumsum([0, *counts]).tolist()
        for (first, end), (start, stop) in zip(*map(pairwise, places), strict=True):
            mine, its = atoms[first:end], bonds[start:stop]
            key = (mine.tobytes(), its.tobytes())
            known = self._known.get(key)
            if known is None or (columns and known.numbers is None):
                known = self._looked_at(mine.tolist(), its.tolist(), columns)
                self._known[key] = known
            found.append(known)
        return found

    def _looked_at(self, atoms: list[list[int]], bonds: list[list[int]], columns: bool) -> Said:
        named = [self._atom(element, charge) for element, charge in atoms]
        listed = tuple([(i, j, KINDS[kind]) for i, j, kind in bonds])
        molecule, allowed = judged(named, listed, not self.reading.charged)
        lost = np.full(len(atoms), UNKNOWN), np.full(len(bonds), UNKNOWN)
        if molecule is None:
            return Said(allowed, allowed, lost)
        alike = allowed and [kind == "aromatic" for _, _, kind in listed] == [
            molecule.GetBondWithIdx(k).GetIsAromatic() for k in range(len(listed))
        ]
        # What is refused as an answer is rarely asked about any further.
        if not columns and not alike:
            return Said(allowed, alike)
        if self._bonding:
            mark_hydrogen_bonding(molecule)
        atom, bond = (self.vocabularies[of].number for of in ("atoms", "bonds"))
        try:
            of_atoms = [atom(molecule.GetAtomWithIdx(k)) for k in range(len(atoms))]
            of_bonds = [bond(molecule.GetBondWithIdx(k)) for k in range(len(bonds))]
            numbers = np.array(of_atoms, np.int64), np.array(of_bonds, np.int64)
        except (RuntimeError, ValueError):  # it was refused before these were known
            numbers = lost
        return Said(allowed, alike, numbers)

    def _atom(self, element: int, charge: int) -> Atom | None:
        key = (element, charge)
        if key not in self._atoms:
            self._atoms[key] = self.reading.with_charge(element, charge)
        return self._atoms[key]


@lru_cache(maxsize=16)
def structures_of(
    reading: Reading, atoms: tuple[str, ...] = (), bonds: tuple[str, ...] = ()
) -> Structures:
    """The structures of a reading, with properties of their atoms and bonds by name."""
    return Structures(reading, atoms, bonds)


def judged(atoms: Sequence[Atom | None], bonds: Bonds, guess: bool) -> tuple[Any, bool]:
    """The RDKit molecule of a structure, and whether RDKit accepts it.

    None where it cannot even be built; accepted where RDKit is not installed.
    """
    known = [atom for atom in atoms if atom is not None]
    if not rdkit_installed() or len(known) < len(atoms):
        return None, not rdkit_installed()
    from rdkit import Chem, rdBase

    try:
        # Most need no mending, which takes longer than to find that out by sanitizing them.
        molecule = build(known, {(i, j): kind for i, j, kind in bonds}, guess=guess, mend=False)
        with rdBase.BlockLogs():
            plain = Chem.RWMol(molecule)
            wrong = Chem.SanitizeMol(molecule, catchErrors=True)
            if wrong == Chem.SanitizeFlags.SANITIZE_KEKULIZE and mended(plain, guess):
                molecule, wrong = plain, Chem.SanitizeMol(plain, catchErrors=True)
            allowed = bool(wrong == Chem.SanitizeFlags.SANITIZE_NONE)
            if not allowed:
                molecule.UpdatePropertyCache(strict=False)
                Chem.FastFindRings(molecule)
                Chem.SetConjugation(molecule)
                Chem.SetHybridization(molecule)
    except (DataError, RuntimeError, ValueError):
        return None, False
    return molecule, allowed


@lru_cache(maxsize=1)
def _feature_factory() -> Any:
    from rdkit import RDConfig
    from rdkit.Chem import ChemicalFeatures

    features: Any = ChemicalFeatures
    return features.BuildFeatureFactory(str(Path(RDConfig.RDDataDir) / "BaseFeatures.fdef"))


def mark_hydrogen_bonding(molecule: Any) -> None:
    """Mark the donors and acceptors of a molecule, which its atoms are then asked about."""
    for found in _feature_factory().GetFeaturesForMol(molecule):
        if found.GetFamily() in ("Donor", "Acceptor"):
            molecule.GetAtomWithIdx(found.GetAtomIds()[0]).SetBoolProp(found.GetFamily(), True)
