"""What data sets of molecules share: splits that keep structures or scaffolds together."""

from __future__ import annotations

import torch
from torch import Tensor

from gnninterpreter.datasets.base import ExplainableDataset
from gnninterpreter.datasets.splits import Split, grouped_split
from gnninterpreter.errors import DataError

BONDS = ("single", "double", "triple")
"""Bonds of a Kekule structure, in which the valence of an atom is the sum of its bonds."""

ROUNDS = 16
MIX = (-7046029254386353131, 1609587929392839161)


class MolecularDataset(ExplainableDataset):
    """Molecules with one categorical block of atoms and one of bonds."""

    def split(self, kind: str = "random", seed: int = 0) -> Split:
        """Split the molecules into 80% training, 10% validation and 10% test.

        Args:
            kind: ``"random"`` or ``"scaffold"``. Stereoisomers and repeated rows are one graph
                here: in a random split, too, the same graph never lies in two parts. A scaffold is
                what is left of rings and the chains between them (Bemis and Murcko 1996);
                molecules without rings share one.
            seed: The same seed gives the same split.

        Raises:
            DataError: If there is no such kind.
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


def structure_keys(
    kinds: Tensor, edges: Tensor, bonds: Tensor, graph: Tensor, *, scaffold: bool = False
) -> Tensor:
    """Keys of graphs that no renumbering changes, by Weisfeiler and Leman's refinement.

    Args:
        kinds: Kind of each atom, [nodes].
        edges: Bonds in both directions, [2, edges].
        bonds: Kind of each, [edges].
        graph: Graph of each atom, [nodes].
        scaffold: Whether to look at rings and the chains between them only.

    Returns:
        Keys, [graphs]. Two different structures have the same key where refinement cannot tell
        them apart, which only puts them into one group.
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
