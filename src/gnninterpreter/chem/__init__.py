"""Molecules: which graphs are some, whether chemistry allows them, SMILES in and out, drawings."""

from gnninterpreter.chem.drawing import Molecule, read_molecule
from gnninterpreter.chem.molecules import is_valid, problem, to_rdkit, to_smiles
from gnninterpreter.chem.presets import PRESETS, Preset
from gnninterpreter.chem.reading import is_molecular
from gnninterpreter.chem.recognition import preset_spec, recognise
from gnninterpreter.chem.smiles import from_smiles
from gnninterpreter.chem.tables import SmilesTable, read_smiles

__all__ = [
    "PRESETS",
    "Molecule",
    "Preset",
    "SmilesTable",
    "from_smiles",
    "is_molecular",
    "is_valid",
    "preset_spec",
    "problem",
    "read_molecule",
    "read_smiles",
    "recognise",
    "to_rdkit",
    "to_smiles",
]
