"""Mutagenicity: 4,337 molecules that do or do not cause mutations in the Ames test.

Kazius et al. (2005), as the TU collection publishes it: hydrogens are nodes, and there are no
charges. The rule of thumb are the toxicophores of the same paper, substructures that make molecules
mutagenic. Their SMARTS are read from ``toxicophores.csv`` in the folder that
``GNNINTERPRETER_DATA`` names, or from the package `medchem`, which has them as its rule set
"Genotoxic-Carcinogenicity".
"""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.chem.molecules import rdkit_chem, sanitized
from gnninterpreter.datasets.molecular import BONDS, TU_PARTS, MolecularDataset, tu_graphs
from gnninterpreter.datasets.published import DATA_VARIABLE, PublishedFile, data_folder
from gnninterpreter.errors import DataError
from gnninterpreter.spec import Categorical, GraphSpec

ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
FILE = "toxicophores.csv"
RULES = "Genotoxic-Carcinogenicity"


class Mutagenicity(MolecularDataset):
    """Molecules of class mutagen or nonmutagen, hydrogens included."""

    name = "mutagenicity"
    rule_of_thumb = True
    spec = GraphSpec(
        nodes=(Categorical(len(ATOMS), ATOMS, name="atom"),),
        edges=(Categorical(len(BONDS), BONDS, name="bond"),),
        class_names=("mutagen", "nonmutagen"),
    )
    source = PublishedFile(
        ("mutagenicity-tu.tgz", "Mutagenicity.zip"),
        "https://www.chrsmrrs.com/graphkerneldatasets/Mutagenicity.zip",
        "c2c3de64668c389f3f2c6177a59c6f2820e1f6134dae776c95a50c0e939e8811",
        tuple(f"Mutagenicity_{part}.txt" for part in TU_PARTS),
    )

    def parameters(self) -> Mapping[str, Any]:
        """Return the hash of the files."""
        return {"sha256": self.source.sha256}

    def generate(self) -> Iterator[Data]:
        """Yield the molecules in their published order."""
        found = self.source.read(Path(self.root), download=self.may_download)
        files = [io.BytesIO(file) for file in found]
        tables = [np.loadtxt(file, dtype=np.int64, delimiter=",", ndmin=2) for file in files]
        # In the order of their atoms, in which models were trained on them.
        order = np.argsort(tables[0][:, 0], kind="stable")
        tables[0], tables[4] = tables[0][order], tables[4][order]
        yield from tu_graphs(tables, self.spec)

    @staticmethod
    def oracle(graph: Data) -> int:
        """Return mutagen where a toxicophore is found: a rule of thumb, right for 80 in 100."""
        return 0 if toxicophores_in(graph, Mutagenicity.spec) else 1


def toxicophores_in(graph: Data, spec: GraphSpec) -> list[str]:
    """Names of the toxicophores that a molecule has, with or without hydrogens."""
    patterns = load_toxicophores()
    from rdkit import rdBase

    with rdBase.BlockLogs():  # hydrogens without neighbours stay, which it would print
        molecule = rdkit_chem().RemoveHs(sanitized(graph, spec))
    return [name for name, pattern in patterns.items() if molecule.HasSubstructMatch(pattern)]


def load_toxicophores() -> dict[str, Any]:
    """The 19 specific and 10 additional toxicophores as RDKit patterns, by name."""
    folder = data_folder()
    places = [folder / FILE] if folder else []
    found = importlib.util.find_spec("medchem")
    installed = (found and found.submodule_search_locations) or ()
    places += [Path(place) / "data" / "common_alerts_collection.csv" for place in installed]
    for path in places:
        if path.is_file():
            return _patterns(path)
    raise DataError(
        f"the toxicophores are not at hand; name the folder with {FILE} in {DATA_VARIABLE}, or "
        "pip install medchem"
    )


@lru_cache(maxsize=4)
def _patterns(path: Path) -> dict[str, Any]:
    Chem = rdkit_chem("looking for toxicophores")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.get("rule_set_name", RULES) == RULES]
    named = {row.get("name") or row.get("description", ""): row["smarts"] for row in rows}
    # The eight general ones say too much: each has a specific one that leaves out exceptions.
    return {
        name: Chem.MolFromSmarts(smarts)
        for name, smarts in named.items()
        if not name.endswith("(general)")
    }
