"""The rule of thumb of MUTAG: nitro groups, rings, and whether a graph is a molecule at all.

Only the last of these needs RDKit (extra ``chem``).
"""

from __future__ import annotations

from typing import Any

from torch_geometric.data import Data

from gnninterpreter.datasets.families import adjacency, count_cycles
from gnninterpreter.errors import DataError, MissingExtraError

__all__ = ["is_valid_molecule", "looks_mutagenic", "nitro_groups", "to_rdkit"]

NITROGEN, OXYGEN = 1, 2


def nitro_groups(graph: Data) -> int:
    """Count the NO2 groups: a nitrogen with two oxygens that have no other neighbor.

    Args:
        graph: A molecule whose ``x`` is one-hot in the atoms of `gnninterpreter.datasets.mutag`.
    """
    return len(_nitro(graph))


def looks_mutagenic(graph: Data) -> bool:
    """Tell a mutagen by rule: a nitro group, and either a second one or three rings.

    Nitro groups and fused aromatic rings are what Debnath et al. (1991) relate to mutagenicity. All
    188 molecules of MUTAG have a nitro group; the rule agrees with the label of 167 (0.888).
    """
    nitro = nitro_groups(graph)
    return nitro >= 1 and (nitro >= 2 or count_cycles(graph) >= 3)


def to_rdkit(graph: Data) -> Any:
    """Return a graph as an RDKit molecule, not yet sanitized.

    Args:
        graph: A molecule; its bonds are single where it has no ``edge_attr``.

    Raises:
        MissingExtraError: If RDKit is not installed.
        DataError: If the features are not those of MUTAG.
    """
    try:
        from rdkit import Chem
    except ImportError as error:
        raise MissingExtraError("reading a graph as a molecule", "rdkit", "chem") from error
    from gnninterpreter.datasets.mutag import ATOMS, BONDS

    if graph.x is None or graph.x.size(1) != len(ATOMS):
        raise DataError(
            f"x must have one column for each of the atoms {', '.join(ATOMS)} "
            f"(got {None if graph.x is None else list(graph.x.shape)})"
        )
    kinds = [getattr(Chem.BondType, name.upper()) for name in BONDS]
    types = [BONDS.index("single")] * graph.edge_index.size(1)
    if graph.edge_attr is not None:
        types = graph.edge_attr.argmax(1).tolist()
    molecule = Chem.RWMol()
    for atom in graph.x.argmax(1).tolist():
        molecule.AddAtom(Chem.Atom(ATOMS[atom]))
    for (i, j), kind in zip(graph.edge_index.t().tolist(), types, strict=True):
        if i < j:
            molecule.AddBond(i, j, kinds[kind])
            if BONDS[kind] == "aromatic":
                molecule.GetAtomWithIdx(i).SetIsAromatic(True)
                molecule.GetAtomWithIdx(j).SetIsAromatic(True)
    for nitrogen, (first, second) in _nitro(graph).items():
        # The data has no charges, and RDKit allows nitrogen four bonds only with one.
        molecule.GetAtomWithIdx(nitrogen).SetFormalCharge(1)
        molecule.GetAtomWithIdx(second).SetFormalCharge(-1)
        molecule.GetBondBetweenAtoms(nitrogen, first).SetBondType(Chem.BondType.DOUBLE)
        molecule.GetBondBetweenAtoms(nitrogen, second).SetBondType(Chem.BondType.SINGLE)
    return molecule


def is_valid_molecule(graph: Data) -> bool:
    """Tell whether RDKit accepts a graph as one connected molecule with possible valencies.

    Args:
        graph: A molecule; where it has no bond types the valencies are checked with single bonds,
            the least they can be.

    Raises:
        MissingExtraError: If RDKit is not installed.
    """
    molecule = to_rdkit(graph)
    from rdkit import Chem, rdBase

    if molecule.GetNumAtoms() == 0 or len(Chem.GetMolFrags(molecule)) != 1:
        return False
    with rdBase.BlockLogs():  # it would print why it refuses a molecule
        failed = Chem.SanitizeMol(molecule, catchErrors=True)
    return bool(failed == Chem.SanitizeFlags.SANITIZE_NONE)


def _nitro(graph: Data) -> dict[int, tuple[int, int]]:
    """Return the nitrogen of each nitro group with its two oxygens."""
    neighbors = adjacency(graph)
    atoms = graph.x.argmax(1).tolist()
    ends = {i for i, others in neighbors.items() if atoms[i] == OXYGEN and len(others) == 1}
    found = {i: sorted(others & ends) for i, others in neighbors.items() if atoms[i] == NITROGEN}
    return {i: (pair[0], pair[1]) for i, pair in found.items() if len(pair) == 2}
