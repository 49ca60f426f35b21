"""Molecules by hand, and the model that the measures are tried on."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.mutag import ATOMS


def molecule(atoms: str, edges: list[tuple[int, int]]) -> Data:
    x = torch.eye(len(ATOMS))[[ATOMS.index(atom) for atom in atoms.split()]]
    return undirected_graph(len(x), edges, 0, x=x)
