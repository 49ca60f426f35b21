from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from gnninterpreter.datasets.color_consistency import ColorConsistency
from gnninterpreter.datasets.mutag import MUTAG
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence import gabriel_edges, gilbert_edges, random_baseline
from gnninterpreter.spec import Categorical, Continuous, GraphSpec


def test_a_point_inside_the_disc_keeps_two_apart():
    # The middle point lies inside the disc over the outer ones, whose radius is 1.
    assert gabriel_edges(np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0]])) == [(0, 1), (1, 2)]


def test_a_point_outside_the_disc_does_not():
    # An equilateral triangle: each corner is outside the disc over the other two.
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    assert gabriel_edges(corners) == [(0, 1), (0, 2), (1, 2)]


def test_a_point_on_the_circle_does_not_count_as_inside():
    # The corners of a square lie on the circle over its diagonal, so all six pairs are joined.
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert len(gabriel_edges(square)) == 6


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_points(count):
    assert len(gabriel_edges(np.random.default_rng(0).random((count, 2)))) == max(0, count - 1)


def test_gabriel_graphs_are_connected_and_as_dense_as_known():
    rng = np.random.default_rng(3)
    graphs = [gabriel_edges(rng.random((18, 2))) for _ in range(200)]
    assert all(nx.is_connected(nx.Graph(edges)) for edges in graphs)
    assert np.mean([len(edges) for edges in graphs]) == pytest.approx(26.7, abs=0.7)


def test_gilbert_graphs_have_about_half_an_edge_a_node():
    rng = np.random.default_rng(4)
    mean = np.mean([len(gilbert_edges(40, rng)) for _ in range(300)])
    assert mean == pytest.approx(40 * 39 / 2 / 40, abs=1.0)


def test_graphs_have_the_features_of_the_spec():
    graphs = random_baseline(ColorConsistency.spec, 3, 12, seed=5)
    for graph in graphs:
        assert graph.x.shape == (12, 3)
        assert (graph.x.sum(1) == 1).all()
        half = graph.edge_index.size(1) // 2
        assert torch.equal(graph.edge_attr[:half], graph.edge_attr[half:])
        assert torch.equal(graph.edge_index[:, :half], graph.edge_index[:, half:].flip(0))


def test_same_seed_same_graphs_and_sizes_take_turns():
    one, other = (random_baseline(MUTAG.spec, 4, (5, 7), seed=6) for _ in range(2))
    assert [graph.num_nodes for graph in one] == [5, 7, 5, 7]
    for a, b in zip(one, other, strict=True):
        assert torch.equal(a.x, b.x)
        assert torch.equal(a.edge_index, b.edge_index)


def test_indices_and_numbers():
    spec = GraphSpec(nodes=(Categorical(4, encoding="index"),), edges=(Continuous(2, -1.0, 3.0),))
    graph = random_baseline(spec, 1, 9, seed=7)[0]
    assert graph.x.shape == (9, 1)
    assert int(graph.x.max()) < 4
    assert -1 <= float(graph.edge_attr.min()) <= float(graph.edge_attr.max()) <= 3


def test_unknown_kind():
    with pytest.raises(SpecError, match="gabriel, gilbert"):
        random_baseline(MUTAG.spec, 1, 5, kind="tree")
