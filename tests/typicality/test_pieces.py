import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.typicality.pieces import cut, cut_piece, to_dense
from tests.typicality.some import ARROWS, BONDS, KINDS, path, ring, star


def test_a_dense_graph_is_the_graph_again():
    data = ring(4, kinds=[0, 1, 2, 1], bonds=[0, 1, 0, 1])
    dense = to_dense([data], BONDS, 6)
    assert dense.num_candidates == 6
    (back,) = dense.to_data_list()
    assert back.x.argmax(1).tolist() == [0, 1, 2, 1]
    kept = {
        (*ends, kind)
        for ends, kind in zip(_pairs(data), data.edge_attr.argmax(1).tolist(), strict=True)
    }
    same = {
        (*ends, kind)
        for ends, kind in zip(_pairs(back), back.edge_attr.argmax(1).tolist(), strict=True)
    }
    assert same == kept


def test_categories_by_index_become_columns():
    spec = GraphSpec(nodes=(Categorical(3, encoding="index"),), class_names=("a", "b"))
    data = Data(x=torch.tensor([[2], [0]]), edge_index=torch.tensor([[0, 1], [1, 0]]))
    assert to_dense([data], spec).nodes[0].tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("size", [1, 3, 6])
def test_pieces_hold_together_and_have_the_size(size):
    rng = np.random.default_rng(0)
    for _ in range(10):
        piece = cut_piece(ring(9, kinds=[0] * 9), size, rng)
        assert piece.num_nodes == size
        assert nx.is_connected(to_networkx(piece, to_undirected=True))


def test_a_piece_is_no_larger_than_what_hangs_together():
    assert cut_piece(star(3), 10, np.random.default_rng(0)).num_nodes == 4


def test_arrows_are_followed_both_ways():
    data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 2], [1, 1]]), num_nodes=3)
    piece = cut_piece(data, 3, np.random.default_rng(1))
    assert piece.num_nodes == 3
    dense = to_dense([piece], ARROWS)
    assert dense.weight[0].tolist() == [[0, 0, 0], [1, 0, 1], [0, 0, 0]]


def test_batches_are_joined_in_order():
    one, two = (
        to_dense([path(3, kinds=[0, 1, 2])], KINDS, 5),
        to_dense([ring(5, kinds=[0] * 5)], KINDS),
    )
    assert DenseGraphs.cat([one, two]).num_edges.tolist() == [2, 5]


def _pairs(data):
    return [tuple(pair) for pair in data.edge_index.T.tolist()]


def test_cut_keeps_features_and_the_edges_between():
    data = Data(
        x=torch.tensor([[0.0], [1.0], [2.0]]),
        edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
        edge_attr=torch.tensor([[5.0], [5.0], [6.0], [6.0]]),
    )
    part = cut(data, [2, 1])
    assert part.x.flatten().tolist() == [2.0, 1.0]
    assert part.edge_index.tolist() == [[1, 0], [0, 1]]
    assert part.edge_attr.flatten().tolist() == [6.0, 6.0]
