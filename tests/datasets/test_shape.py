"""The Shape generator and the families its oracle finds."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.families import nearest_family
from gnninterpreter.datasets.shape import Shape, grid, lollipop, star, wheel


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return Shape(tmp_path_factory.mktemp("shape"))


def test_published_means(dataset):
    nodes = dataset.slices["x"].diff().double()
    edges = dataset.slices["edge_index"].diff().double() / 2
    assert len(dataset) == 8000
    assert float(nodes.mean()) == pytest.approx(30.17, rel=0.02)
    assert float(edges.mean()) == pytest.approx(71.86, rel=0.02)
    assert torch.bincount(dataset.y).min() > 1400


def test_graphs_are_simple_and_undirected(dataset):
    for graph in dataset[:200]:
        pairs = set(map(tuple, graph.edge_index.t().tolist()))
        assert len(pairs) == graph.num_edges
        assert {(j, i) for i, j in pairs} == pairs
        assert all(i != j for i, j in pairs)
        assert graph.x.tolist() == [[1.0]] * graph.num_nodes


def test_noise_stays_below_a_fifth(dataset):
    stars = [graph for graph in dataset[:600] if int(graph.y) == 4]
    for graph in stars:
        hub = int(torch.bincount(graph.edge_index[0]).max())
        assert graph.num_edges / 2 - hub <= 0.2 * hub


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lollipop(5, 3), nx.lollipop_graph(5, 3)),
        (wheel(6), nx.wheel_graph(7)),
        (grid(3, 4), nx.grid_2d_graph(3, 4)),
        (star(5), nx.star_graph(5)),
    ],
)
def test_families_are_what_they_are_called(made, expected):
    nodes, edges = made
    graph = nx.Graph(edges)
    assert nodes == len(graph) == len(expected)
    assert len(edges) == graph.number_of_edges()
    assert nx.is_isomorphic(graph, expected)


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("lollipop", lollipop(4, 4)),
        ("lollipop", lollipop(16, 16)),
        ("wheel", wheel(4)),
        ("wheel", wheel(64)),
        ("grid", grid(2, 2)),
        ("grid", grid(8, 8)),
        ("grid", grid(2, 7)),
        ("star", star(4)),
        ("star", star(64)),
    ],
)
def test_a_member_is_at_distance_zero(name, member):
    match = nearest_family(undirected_graph(*member, 0))
    assert match.name == name
    assert match.distance == 0.0


def test_distance_is_the_share_of_noise():
    nodes, edges = star(10)
    match = nearest_family(undirected_graph(nodes, [*edges, (1, 2)], 0))
    assert match.name == "star"
    assert match.distance == pytest.approx(1 / 10)
    nodes, edges = grid(3, 3)  # 12 edges, 3 of them noise: a diagonal and two pendants
    match = nearest_family(undirected_graph(nodes + 2, [*edges, (0, 4), (8, 9), (2, 10)], 0))
    assert match.distances["grid"] == pytest.approx(3 / 12)
    assert match.name == "grid"


@pytest.mark.parametrize("graph", [nx.path_graph(8), nx.complete_graph(9), nx.cycle_graph(7)])
def test_graphs_of_no_family_are_others(graph):
    assert nearest_family(undirected_graph(len(graph), list(graph.edges), 0)).name == "others"


def test_graphs_without_edges_or_nodes_are_others():
    empty = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0, dtype=torch.long))
    assert Shape.oracle(empty) == 0
    assert Shape.oracle(Data(x=torch.ones(0, 1), edge_index=empty.edge_index)) == 0


def test_oracle_agrees_with_the_labels_up_to_noise(dataset):
    some = dataset[:400]
    agreeing = sum(dataset.oracle(graph) == int(graph.y) for graph in some)
    assert agreeing / len(some) >= 0.995
