"""Molecules by hand, in several ways of writing them down."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from gnninterpreter.spec import Categorical, GraphSpec

NAMES = ("C", "N", "O", "N+", "O-", "P", "Cl", "H", "Na+")
BONDS = ("single", "double", "triple", "aromatic")
SPEC = GraphSpec(
    nodes=(Categorical(len(NAMES), NAMES, name="atom"),),
    edges=(Categorical(4, BONDS, name="bond"),),
    class_names=("no", "yes"),
)
PLAIN_NAMES = ("C", "N", "O", "H", "B")
UNCHARGED = GraphSpec(
    nodes=(Categorical(5, PLAIN_NAMES, name="atom"),),
    edges=(Categorical(4, BONDS, name="bond"),),
)


def graph(atoms: str, bonds: str, spec: GraphSpec = SPEC) -> Data:
    """A graph of named atoms; a bond is written ``0-1``, ``0=1``, ``0#1`` or ``0:1``."""
    names = spec.nodes[0].names
    x = torch.eye(len(names))[[names.index(atom) for atom in atoms.split()]]
    ends, kinds = [], []
    for bond in bonds.split():
        sign = next(s for s in "-=#:" if s in bond)
        i, j = (int(end) for end in bond.split(sign))
        ends += [(i, j), (j, i)]
        kinds += ["-=#:".index(sign)] * 2
    index = torch.tensor(ends, dtype=torch.long).reshape(-1, 2).t()
    made = Data(x=x, edge_index=index, num_nodes=len(x))
    if spec.edges:
        made.edge_attr = torch.eye(4)[kinds].reshape(-1, 4)
    return made


RING = "0:1 1:2 2:3 3:4 4:5 5:0"
NITROBENZENE = ("C C C C C C N+ O O-", f"{RING} 0-6 6=7 6-8")
PYRROLE = ("N C C C C", "0:1 1:2 2:3 3:4 4:0")
