"""Graphs as RDKit molecules (extra ``chem``): built, mended, judged with the reason, and named.

Data sets leave out what a chemist takes for granted. Charges that the spec cannot say are put where
an atom has a bond too many (nitro groups first), and hydrogens on aromatic nitrogens where rings
have no single and double bonds without them.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from itertools import combinations
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.chem.elements import Atom, most_bonds
from gnninterpreter.chem.reading import LENT, ORDERS, reading_of
from gnninterpreter.errors import DataError, needs
from gnninterpreter.graphs import node_rows, table
from gnninterpreter.spec import GraphSpec

MOST_MENDED = 3
"""Hydrogens that are put on the aromatic nitrogens of one molecule, at the most."""

Bonds = dict[tuple[int, int], str | None]


def rdkit_chem(purpose: str = "reading a graph as a molecule") -> Any:
    """RDKit's module, or the error that says how to install it."""
    with needs("rdkit", "chem", purpose):
        from rdkit import Chem
    return Chem


def to_rdkit(graph: Data, spec: GraphSpec) -> Any:
    """Return a graph as an RDKit molecule, mended but not yet sanitized.

    Bonds are single where the spec does not name them.
    """
    rdkit_chem()
    reading = reading_of(spec)
    if reading is None:
        raise DataError(
            "only graphs whose nodes are named after elements are molecules "
            f"(got {', '.join(block.name for block in spec.nodes)}); name them in the spec"
        )
    width = table(node_rows(graph)).size(1)
    if width != spec.node_width:
        raise DataError(f"x must have the {spec.node_width} columns of the spec (got {width})")
    atoms, bonds = reading.atoms_of(graph, spec), reading.bonds_of(graph, spec)
    known = [atom for atom in atoms if atom is not None]
    if len(known) < len(atoms):
        raise DataError(f"node {atoms.index(None)} is of no known element")
    return build(known, bonds, guess=not reading.charged, typed=any(map(reading.lends, LENT)))


def build(
    atoms: list[Atom],
    bonds: Bonds,
    *,
    guess: bool = False,
    typed: bool = True,
    mend: bool = True,
) -> Any:
    """Put atoms and bonds together; ``guess`` charges: without ``typed`` bonds, of nitro groups."""
    Chem = rdkit_chem()
    bonds = dict(bonds)
    charges = [atom.charge for atom in atoms]
    if guess:
        _guess_charges(atoms, bonds, charges, typed)
    molecule = Chem.RWMol()
    for atom, charge in zip(atoms, charges, strict=True):
        made = Chem.Atom(atom.symbol)
        made.SetFormalCharge(charge)
        if atom.hydrogens is not None:
            made.SetNumExplicitHs(atom.hydrogens)
            made.SetNoImplicit(True)
        molecule.AddAtom(made)
    for (i, j), kind in bonds.items():
        if kind is None:
            raise DataError(f"the bond between nodes {i} and {j} is of no known kind")
        molecule.AddBond(i, j, getattr(Chem.BondType, kind.upper()))
        if kind == "aromatic":
            molecule.GetAtomWithIdx(i).SetIsAromatic(True)
            molecule.GetAtomWithIdx(j).SetIsAromatic(True)
    if mend and "aromatic" in bonds.values():
        mended(molecule, guess)
    return molecule


def sanitized(graph: Data, spec: GraphSpec) -> Any:
    """Return a graph as an RDKit molecule that RDKit accepts."""
    molecule = to_rdkit(graph, spec)
    wrong = problem_of(molecule)
    if wrong:
        raise DataError(f"this graph is no molecule: {wrong}")
    rdkit_chem().SanitizeMol(molecule)
    return molecule


def problem(graph: Data, spec: GraphSpec, whole: bool = True) -> str:
    """Why a graph is no molecule, in a few words; empty where it is one, or ``whole`` if asked."""
    try:
        molecule = to_rdkit(graph, spec)
    except DataError as error:
        return str(error)
    parts = len(rdkit_chem().GetMolFrags(molecule))
    if parts == 0:
        return "it has no atoms"
    if parts > 1 and whole:
        return f"it is in {parts} pieces"
    return problem_of(molecule)


def is_valid(graph: Data, spec: GraphSpec) -> bool:
    """Whether RDKit accepts a graph as one connected molecule with possible valencies."""
    return not problem(graph, spec)


@lru_cache(maxsize=1)
def rdkit_installed() -> bool:
    """Whether molecules can be judged here."""
    return find_spec("rdkit") is not None


def to_smiles(graph: Data, spec: GraphSpec) -> str:
    """The canonical SMILES of a graph; hydrogens that are nodes are left to be understood."""
    Chem = rdkit_chem()
    return str(Chem.MolToSmiles(Chem.RemoveHs(sanitized(graph, spec))))


def problem_of(molecule: Any) -> str:
    """Why RDKit refuses a molecule of its own, in a few words; empty where it accepts it."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():  # it would print why it refuses a molecule
        tried = Chem.RWMol(molecule)
        if Chem.SanitizeMol(tried, catchErrors=True) == Chem.SanitizeFlags.SANITIZE_NONE:
            return ""
        found = Chem.DetectChemistryProblems(molecule)
    for one in found:
        if one.GetType() == "AtomValenceException":
            return _too_many(molecule.GetAtomWithIdx(one.GetAtomIdx()))
    for one in found:
        if one.GetType() == "KekulizeException":
            ring = ", ".join(str(i) for i in one.GetAtomIndices())
            return f"the aromatic ring of nodes {ring} has no single and double bonds that fit"
        if one.GetType() == "AtomKekulizeException":
            atom = molecule.GetAtomWithIdx(one.GetAtomIdx())
            return f"node {atom.GetIdx()} ({atom.GetSymbol()}) is aromatic but in no ring"
    return "RDKit refuses it"


def _too_many(atom: Any) -> str:
    symbol, charge = atom.GetSymbol(), atom.GetFormalCharge()
    count = sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds()) + atom.GetNumExplicitHs()
    most, lent = most_bonds(symbol, charge), LENT.get(symbol, 0)
    more = most_bonds(symbol, charge + lent) if lent and not charge else most
    hint = f" ({more:g} with a charge)" if more > most else ""
    name = str(Atom(symbol, charge))
    return f"{name} has {count:g} bonds, at most {most:g}{hint} (node {atom.GetIdx()})"


def _guess_charges(atoms: list[Atom], bonds: Bonds, charges: list[int], typed: bool) -> None:
    """Charges that the data leaves out: of nitro groups, and of atoms with a bond too many."""
    around: list[list[int]] = [[] for _ in atoms]
    for i, j in bonds:
        around[i].append(j)
        around[j].append(i)
    for i, others in enumerate(around):
        ends = sorted(j for j in others if atoms[j].symbol == "O" and len(around[j]) == 1)
        rest = [bonds[min(i, j), max(i, j)] for j in others if j not in ends]
        if atoms[i].symbol == "N" and len(ends) == 2 and rest in ([], ["single"]):
            # The data has no charges, and RDKit allows nitrogen four bonds only with one.
            charges[i], charges[ends[1]] = 1, -1
            bonds[min(i, ends[0]), max(i, ends[0])] = "double"
            bonds[min(i, ends[1]), max(i, ends[1])] = "single"
    if not typed:
        return
    for i, atom in enumerate(atoms):
        kinds = [bonds[min(i, j), max(i, j)] for j in around[i]]
        lent = LENT.get(atom.symbol, 0)
        if charges[i] or not lent or "aromatic" in kinds:
            continue
        total = sum(ORDERS.get(kind or "", 0.0) for kind in kinds)
        if most_bonds(atom.symbol) < total <= most_bonds(atom.symbol, lent):
            charges[i] = lent


def mended(molecule: Any, guess: bool) -> bool:
    """Mend as few aromatic nitrogens as make single and double bonds possible; whether it could.

    One with two bonds gets a hydrogen, one with three a charge where charges are unknown.
    """
    if _problems(molecule) != {"KekulizeException"}:
        return False
    free = [
        atom
        for atom in molecule.GetAtoms()
        if atom.GetIsAromatic()
        and atom.GetSymbol() in ("N", "P")
        and atom.GetDegree() < 3 + guess
        and not atom.GetFormalCharge()
        and not atom.GetNoImplicit()
    ]

    def mend(atom: Any, count: int) -> None:
        (atom.SetNumExplicitHs if atom.GetDegree() == 2 else atom.SetFormalCharge)(count)

    for count in range(1, min(MOST_MENDED, len(free)) + 1):
        for chosen in combinations(free, count):
            for atom in chosen:
                mend(atom, 1)
            if not _problems(molecule):
                return True
            for atom in chosen:
                mend(atom, 0)
    return False


def _problems(molecule: Any) -> set[str]:
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        return {one.GetType() for one in Chem.DetectChemistryProblems(molecule)}
