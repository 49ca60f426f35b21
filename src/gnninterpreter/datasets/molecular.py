"""What data sets of molecules share: TU files, and splits that keep structures together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.datasets.base import ExplainableDataset, undirected_graph
from gnninterpreter.datasets.splits import Split, grouped_split
from gnninterpreter.errors import DataError
from gnninterpreter.spec import GraphSpec

BONDS = ("single", "double", "triple")
"""Bonds of a Kekule structure, in which the valence of an atom is the sum of its bonds."""

TU_PARTS = ("A", "graph_indicator", "graph_labels", "node_labels", "edge_labels")
"""What the names of a data set's files end in, in the TU collection."""

ROUNDS = 16
MIX = (-7046029254386353131, 1609587929392839161)


class MolecularDataset(ExplainableDataset):
    """Molecules with one categorical block of atoms and one of bonds."""

    def split(self, kind: str = "random", seed: int = 0) -> Split:
        """Split the molecules into 80% training, 10% validation and 10% test.

        ``kind`` is ``"random"`` or ``"scaffold"``. Stereoisomers and repeated rows are one graph
        here: in a random split, too, the same graph never lies in two parts. A scaffold is what is
        left of rings and the chains between them (Bemis and Murcko 1996); molecules without rings
        share one.
        """
        if kind not in ("random", "scaffold"):
            raise DataError(f"kind must be 'random' or 'scaffold' (got {kind!r})")
        return grouped_split(self.structures(scaffold=kind == "scaffold"), seed)

    def structures(self, *, scaffold: bool = False) -> Tensor:
        """A number for each molecule, the same where the structure, or its scaffold, is."""
        data, counts = self._data, self.slices["x"].diff()
        first = self.slices["x"][:-1].repeat_interleave(self.slices["edge_index"].diff())
        return structure_keys(
            data.x.argmax(1),
            data.edge_index + first,
            data.edge_attr.argmax(1),
            torch.arange(len(counts)).repeat_interleave(counts),
            scaffold=scaffold,
        )


def tu_graphs(tables: Sequence[np.ndarray[Any, Any]], spec: GraphSpec) -> Iterator[Data]:
    """Yield molecules of tables in the order of `TU_PARTS`; without bonds if the spec has none."""
    ends, owner, labels, atoms, bonds = tables
    # Nodes are listed graph by graph, from 1 on; the files hold both directions of each bond.
    starts = np.searchsorted(owner[:, 0], np.arange(1, len(labels) + 2))
    forth = ends[:, 0] < ends[:, 1]
    ends, bonds = ends[forth] - 1, bonds[forth, 0]
    graph = owner[ends[:, 0], 0]
    order = np.argsort(graph, kind="stable")
    ends, bonds = ends[order], bonds[order]
    cuts = np.searchsorted(graph[order], np.arange(1, len(labels) + 2))
    for index, label in enumerate(labels[:, 0].tolist()):
        nodes, mine = slice(*starts[index : index + 2]), slice(*cuts[index : index + 2])
        yield undirected_graph(
            nodes.stop - nodes.start,
            ends[mine] - nodes.start,
            label,
            x=torch.eye(spec.node_width)[atoms[nodes, 0]],
            edge_attr=torch.eye(spec.edge_width)[bonds[mine]] if spec.edges else None,
        )


def structure_keys(
    kinds: Tensor, edges: Tensor, bonds: Tensor, graph: Tensor, *, scaffold: bool = False
) -> Tensor:
    """Keys of graphs that no renumbering changes, by Weisfeiler and Leman's refinement, [graphs].

    ``kinds`` and ``graph`` are of atoms, ``bonds`` of edges, which are listed both ways. Two
    structures that refinement cannot tell apart have one key, which only puts them into one group.
    """
    inside = torch.ones_like(kinds, dtype=torch.bool)
    while scaffold:
        kept = inside[edges].all(0)
        ends = inside & (torch.zeros_like(kinds).index_add(0, edges[0], kept.long()) < 2)
        if not ends.any():
            break
        inside &= ~ends
    kept = inside[edges].all(0)
    (source, target), bonds = edges[:, kept], bonds[kept]
    colors = _mixed(kinds)
    for _ in range(ROUNDS):
        received = _mixed(colors[source] + MIX[1] * (bonds + 1))
        colors = _mixed(colors * MIX[0] + torch.zeros_like(colors).index_add(0, target, received))
    count = int(graph.max()) + 1
    return torch.zeros(count, dtype=torch.long).index_add(0, graph[inside], _mixed(colors[inside]))


def _mixed(values: Tensor) -> Tensor:
    """Scatter whole numbers over all there are, so that sums of different ones differ."""
    values = (values + 1) * MIX[0]
    values = (values ^ (values >> 29)) * MIX[1]
    return values ^ (values >> 32)
