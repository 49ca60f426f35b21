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
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.molecular import BONDS, MolecularDataset
from gnninterpreter.datasets.published import PublishedFile
from gnninterpreter.datasets.toxicophores import toxicophores_in
from gnninterpreter.spec import Categorical, GraphSpec

ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
_PARTS = ("A", "graph_indicator", "graph_labels", "node_labels", "edge_labels")


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
        tuple(f"Mutagenicity_{part}.txt" for part in _PARTS),
    )

    def parameters(self) -> Mapping[str, Any]:
        """Return the hash of the files."""
        return {"sha256": self.source.sha256}

    def generate(self) -> Iterator[Data]:
        """Yield the molecules in their published order."""
        files = self.source.read(Path(self.root))
        ends, owner, labels, atoms, bonds = (
            np.loadtxt(io.BytesIO(file), dtype=np.int64, delimiter=",", ndmin=2) for file in files
        )
        ends -= 1
        # Nodes are listed graph by graph; the files hold both directions of each bond.
        starts = np.searchsorted(owner[:, 0], np.arange(1, len(labels) + 2))
        forth = ends[:, 0] < ends[:, 1]
        ends, bonds = ends[forth], bonds[forth, 0]
        order = np.argsort(ends[:, 0], kind="stable")
        ends, bonds = ends[order], bonds[order]
        cuts = np.searchsorted(ends[:, 0], starts)
        for index, label in enumerate(labels[:, 0].tolist()):
            nodes, mine = slice(*starts[index : index + 2]), slice(*cuts[index : index + 2])
            yield undirected_graph(
                nodes.stop - nodes.start,
                ends[mine] - nodes.start,
                label,
                x=torch.eye(len(ATOMS))[atoms[nodes, 0]],
                edge_attr=torch.eye(len(BONDS))[bonds[mine]],
            )

    @staticmethod
    def oracle(graph: Data) -> int:
        """Return mutagen where a toxicophore is found: a rule of thumb, right for 80 in 100."""
        return 0 if toxicophores_in(graph, Mutagenicity.spec) else 1
