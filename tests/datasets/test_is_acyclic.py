"""The reconstructed Is_Acyclic generator."""

from __future__ import annotations

import networkx as nx
import pytest
import torch

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.families import count_cycles
from gnninterpreter.datasets.is_acyclic import (
    IsAcyclic,
    circular_ladder,
    cycle,
    full_tree,
)
from gnninterpreter.errors import DataError


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return IsAcyclic(tmp_path_factory.mktemp("is_acyclic"))


def test_published_means(dataset):
    assert len(dataset) == 2000
    assert torch.bincount(dataset.y).tolist() == [1000, 1000]
    nodes = float(dataset.slices["x"].diff().double().mean())
    edges = float(dataset.slices["edge_index"].diff().double().mean()) / 2
    assert nodes == pytest.approx(28.46, rel=0.05)
    assert edges == pytest.approx(30.04, rel=0.05)


def test_every_graph_is_connected_and_labeled_right(dataset):
    for graph in dataset:
        found = nx.Graph(graph.edge_index.t().tolist())
        assert len(found) == graph.num_nodes
        assert nx.is_connected(found)
        assert nx.is_forest(found) == bool(graph.y)
        assert dataset.oracle(graph) == int(graph.y)


def test_families():
    assert nx.is_isomorphic(nx.Graph(circular_ladder(5)[1]), nx.circular_ladder_graph(5))
    assert nx.is_isomorphic(nx.Graph(cycle(6)[1]), nx.cycle_graph(6))
    assert nx.is_isomorphic(nx.Graph(full_tree(12, 3)[1]), nx.full_rary_tree(3, 12))
    assert nx.is_isomorphic(nx.Graph(full_tree(5, 1)[1]), nx.path_graph(5))


def test_only_the_hard_variant_has_cycles_with_leaves(tmp_path, dataset):
    def with_leaf(graphs):
        cyclic = [graph for graph in graphs if int(graph.y) == 0]
        return sum(int(torch.bincount(g.edge_index[0]).min()) == 1 for g in cyclic) / len(cyclic)

    hard = IsAcyclic(tmp_path, num_graphs=400, hard=True)
    assert with_leaf(dataset[:400]) == 0.0
    assert 0.4 < with_leaf(hard) < 0.6
    assert all(hard.oracle(graph) == int(graph.y) for graph in hard)


def test_cycles_by_hand():
    assert count_cycles(undirected_graph(5, [(0, 1), (2, 3)], 0)) == 0
    assert count_cycles(undirected_graph(2, [], 0)) == 0
    assert count_cycles(undirected_graph(5, [(0, 1), (2, 3), (3, 4), (2, 4)], 0)) == 1
    assert count_cycles(undirected_graph(*circular_ladder(4), 0)) == 5


def test_too_few_graphs(tmp_path):
    with pytest.raises(DataError, match="at least 2"):
        IsAcyclic(tmp_path, num_graphs=1)
