"""Small graphs that the tests of typicality share."""

import torch
from torch_geometric.data import Data

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.typicality import References
from gnninterpreter.typicality.pieces import to_dense

PLAIN = GraphSpec(class_names=("a", "b"))
KINDS = GraphSpec(nodes=(Categorical(3),), class_names=("a", "b"))
BONDS = GraphSpec(nodes=(Categorical(3),), edges=(Categorical(2),), class_names=("a", "b"))
NUMBERS = GraphSpec(nodes=(Continuous(2, -4.0, 4.0),), class_names=("a", "b"))
ARROWS = GraphSpec(class_names=("a", "b"), directed=True)


def graph(pairs, size, kinds=None, bonds=None):
    """An undirected graph; kinds are of three categories, bonds of two."""
    forth = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    x = torch.ones(size, 1) if kinds is None else torch.eye(3)[list(kinds)]
    data = Data(x=x, edge_index=torch.cat([forth, forth.flip(0)], 1), num_nodes=size)
    if bonds is not None:
        data.edge_attr = torch.eye(2)[list(bonds) * 2]
    return data


def ring(size, **more):
    return graph([(i, (i + 1) % size) for i in range(size)], size, **more)


def path(size, **more):
    return graph([(i, i + 1) for i in range(size - 1)], size, **more)


def star(leaves, **more):
    return graph([(0, i + 1) for i in range(leaves)], leaves + 1, **more)


def whole(graphs, spec, limit=12):
    dense = to_dense(graphs, spec, limit)
    return References(dense, True, torch.ones(len(graphs), dtype=torch.bool))


def shuffled(graphs: DenseGraphs, order: list[int]) -> DenseGraphs:
    edges = None if graphs.edges is None else graphs.edges[:, order][:, :, order]
    weight = graphs.weight[:, order][:, :, order]
    return DenseGraphs(graphs.spec, weight, graphs.nodes[:, order], edges)
