"""Mutagenicity: 4,337 molecules that do or do not cause mutations in the Ames test.

Kazius et al. (2005), as the TU collection publishes it: hydrogens are nodes, and there are no
charges. The rule of thumb are the toxicophores of the same paper.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.datasets.molecular import BONDS, TU_PARTS, MolecularDataset, tu_graphs
from gnninterpreter.datasets.published import PublishedFile
from gnninterpreter.datasets.toxicophores import toxicophores_in
from gnninterpreter.spec import Categorical, GraphSpec

ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")


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
        files = [io.BytesIO(file) for file in self.source.read(Path(self.root))]
        tables = [np.loadtxt(file, dtype=np.int64, delimiter=",", ndmin=2) for file in files]
        # In the order of their atoms, in which models were trained on them.
        order = np.argsort(tables[0][:, 0], kind="stable")
        tables[0], tables[4] = tables[0][order], tables[4][order]
        yield from tu_graphs(tables, self.spec)

    @staticmethod
    def oracle(graph: Data) -> int:
        """Return mutagen where a toxicophore is found: a rule of thumb, right for 80 in 100."""
        return 0 if toxicophores_in(graph, Mutagenicity.spec) else 1
