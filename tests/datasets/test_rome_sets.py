"""Cyclicity, Motif and ColorConsistency: statistics, labels and the rules behind them."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter import datasets
from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.color_consistency import ColorConsistency, inconsistent_edges
from gnninterpreter.datasets.cyclicity import Cyclicity
from gnninterpreter.datasets.motif import CLASS_NAMES, MOTIFS, Motif, find_motifs

RED, GREEN, BLUE = range(3)


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "tolerance", "shares"),
    [
        ("cyclicity", 52.51, 52.76, 0.03, (0.25, 0.25, 0.5)),
        ("motif", 57.07, 77.36, 0.02, (0.2, 0.2, 0.2, 0.2, 0.2)),
        ("color_consistency", 52.33, 69.06, 0.02, (0.5, 0.5)),
    ],
)
def test_published_means_and_true_labels(name, nodes, edges, tolerance, shares, base, tmp_path):
    dataset = datasets.load(name, tmp_path, base=base, num_graphs=2500, seed=1)
    found_nodes = dataset.slices["x"].diff().double()
    found_edges = dataset.slices["edge_index"].diff().double() / 2
    assert float(found_nodes.mean()) == pytest.approx(nodes, rel=tolerance)
    assert float(found_edges.mean()) == pytest.approx(edges, rel=tolerance)
    counted = torch.bincount(dataset.y, minlength=len(shares)) / len(dataset)
    assert counted.tolist() == pytest.approx(shares, abs=0.04)
    assert all(dataset.oracle(graph) == int(graph.y) for graph in dataset)


@pytest.mark.parametrize("name", ["cyclicity", "motif", "color_consistency"])
def test_same_seed_same_graphs(name, tmp_path):
    settings = {"base": "synthetic", "num_graphs": 20}
    first = datasets.load(name, tmp_path / "a", seed=5, **settings)
    again = datasets.load(name, tmp_path / "b", seed=5, **settings)
    other = datasets.load(name, tmp_path / "a", seed=6, **settings)
    assert first.fingerprint == again.fingerprint != other.fingerprint


def colored_cycle(colors: list[int]) -> Data:
    size = len(colors)
    edges = [(i, (i + 1) % size) for i in range(size)]
    return undirected_graph(size, edges, 0, edge_attr=torch.eye(2)[colors])


def test_cyclicity_oracle():
    assert Cyclicity.oracle(colored_cycle([0, 0, 0])) == 0
    assert Cyclicity.oracle(colored_cycle([1, 1, 1, 1])) == 1
    assert Cyclicity.oracle(colored_cycle([1, 1, 0, 1])) == 2
    path = undirected_graph(3, [(0, 1), (1, 2)], 0, edge_attr=torch.eye(2)[[0, 0]])
    assert Cyclicity.oracle(path) == 2
    # Two cycles that share the edge 1-2: a green triangle in a mixed graph.
    edges = [(0, 1), (1, 2), (0, 2), (1, 3), (2, 3)]
    mixed = undirected_graph(4, edges, 0, edge_attr=torch.eye(2)[[1, 1, 1, 0, 0]])
    assert Cyclicity.oracle(mixed) == 1


def test_cyclicity_leaves_one_cycle(tmp_path):
    for graph in Cyclicity(tmp_path, base="synthetic", num_graphs=60):
        found = nx.Graph(graph.edge_index.t().tolist())
        assert nx.is_connected(found)
        assert len(found) == graph.num_nodes
        assert found.number_of_edges() - len(found) in (-1, 0)
        assert torch.equal(graph.edge_attr.sum(1), torch.ones(graph.num_edges))


def motif_graph(name: str, without: int | None = None) -> Data:
    edges = list(MOTIFS[name])
    if without is not None:
        edges.pop(without)
    size = 1 + max(j for _, j in MOTIFS[name])
    return undirected_graph(size, edges, 0, x=torch.eye(5)[:size])


def test_motifs_are_as_described():
    degrees = {
        "house": [2, 2, 3, 3, 2],
        "house-x": [3, 3, 4, 4, 2],
        "complete-4": [3, 3, 3, 3],
        "complete-5": [4, 4, 4, 4, 4],
    }
    for name, expected in degrees.items():
        ends = torch.tensor(MOTIFS[name]).flatten()
        assert torch.bincount(ends).tolist() == expected


@pytest.mark.parametrize("name", MOTIFS)
def test_motif_oracle_knows_each_motif(name):
    graph = motif_graph(name)
    assert CLASS_NAMES[Motif.oracle(graph)] == name
    graph.x = graph.x.flip(1)  # the same shape in other colors
    assert "complete" in name or Motif.oracle(graph) == 0


def test_motif_oracle_wants_exactly_the_motif():
    assert find_motifs(motif_graph("house-x")) == ["house-x", "complete-4"]
    assert find_motifs(motif_graph("house", without=0)) == []
    # Complete-5 without an edge at purple still holds Complete-4, so it is not "others".
    at_purple = MOTIFS["complete-5"].index((0, 4))
    assert find_motifs(motif_graph("complete-5", without=at_purple)) == ["complete-4"]
    # House-X without a diagonal is no house: the other diagonal is too much.
    diagonal = MOTIFS["house-x"].index((0, 3))
    assert find_motifs(motif_graph("house-x", without=diagonal)) == []


def test_color_mixing_by_hand():
    x = torch.eye(3)[[RED, GREEN, BLUE, RED]]
    edges = [(0, 1), (1, 2), (0, 2), (0, 3)]
    yellow, cyan, magenta = 3, 4, 5
    right = torch.eye(6)[[yellow, cyan, magenta, RED]]
    graph = undirected_graph(4, edges, 0, x=x, edge_attr=right)
    assert ColorConsistency.oracle(graph) == 0
    wrong = torch.eye(6)[[yellow, cyan, GREEN, RED]]
    graph = undirected_graph(4, edges, 0, x=x, edge_attr=wrong)
    assert ColorConsistency.oracle(graph) == 1
    assert inconsistent_edges(graph).nonzero().flatten().tolist() == [2, 6]


def test_inconsistent_graphs_keep_an_edge_of_the_right_color(tmp_path):
    for graph in ColorConsistency(tmp_path, base="synthetic", num_graphs=60):
        wrong = int(inconsistent_edges(graph).sum()) // 2
        assert wrong == 0 if int(graph.y) == 0 else 1 <= wrong < graph.num_edges // 2
