"""Molecules: which graphs are some, whether chemistry allows them, SMILES and skeletal formulas."""

from gnninterpreter.chem.drawing import Molecule, is_molecular, read_molecule

__all__ = ["Molecule", "is_molecular", "read_molecule"]
