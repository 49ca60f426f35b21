"""Molecules: which graphs are some, whether chemistry allows them, SMILES in and out, drawings."""

from gnninterpreter.chem.drawing import Molecule, read_molecule
from gnninterpreter.chem.molecules import is_valid, problem, to_rdkit, to_smiles
from gnninterpreter.chem.reading import is_molecular

__all__ = [
    "Molecule",
    "is_molecular",
    "is_valid",
    "problem",
    "read_molecule",
    "to_rdkit",
    "to_smiles",
]
