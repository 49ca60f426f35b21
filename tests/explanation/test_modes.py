"""Distinct graphs among those that restarts found, and which answer each is."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.explanation.made import MOLECULES, explanation
from tests.tiny import COLOURED, DIRECTED, graph, stack

TRIANGLE = [(0, 1), (1, 2), (2, 0)]
SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]


def test_modes_group_isomorphic_graphs() -> None:
    renumbered = [(4, 2), (2, 1), (1, 4)]
    graphs = stack(
        [graph(5, SQUARE), graph(5, TRIANGLE), graph(5, renumbered), graph(5, [(0, 3), (3, 4)]),
         graph(5, [(2, 3), (3, 4), (4, 2)])]
    )  # fmt: skip
    modes = explanation(graphs, probabilities=[0.99, 0.98, 0.97, 0.96, 0.95]).modes()
    assert [mode.restarts for mode in modes] == [(1, 2, 4), (3,), (0,)]
    assert [mode.share for mode in modes] == pytest.approx([0.6, 0.2, 0.2])
    assert [mode.probability for mode in modes] == [0.98, 0.96, 0.99]
    assert [mode.graph.num_nodes for mode in modes] == [3, 3, 4]


def test_modes_tell_features_of_nodes_apart() -> None:
    path = [(0, 1), (1, 2)]
    graphs = stack(
        [
            graph(4, path, COLOURED, colours=[0, 1, 0, 0]),
            graph(4, path, COLOURED, colours=[1, 0, 1, 0]),
            graph(4, [(2, 3), (3, 0)], COLOURED, colours=[0, 0, 0, 1]),
        ]
    )
    assert [mode.restarts for mode in explanation(graphs).modes()] == [(0, 2), (1,)]


def test_modes_tell_features_of_edges_apart() -> None:
    path = [(0, 1), (1, 2)]
    graphs = stack([graph(4, path, MOLECULES) for _ in range(3)])
    assert graphs.edges is not None
    for i, j in ((0, 1), (1, 0)):
        graphs.edges[1, i, j] = torch.tensor([0.0, 1.0])
    for i, j in ((1, 2), (2, 1)):
        graphs.edges[2, i, j] = torch.tensor([0.0, 1.0])
    assert [mode.restarts for mode in explanation(graphs).modes()] == [(1, 2), (0,)]


def test_modes_tell_graphs_apart_that_look_alike_to_every_node() -> None:
    """Two triangles and a hexagon: the same degrees everywhere, and the same hash."""
    triangles = [*TRIANGLE, (3, 4), (4, 5), (5, 3)]
    hexagon = [(i, (i + 1) % 6) for i in range(6)]
    modes = explanation(stack([graph(6, triangles), graph(6, hexagon)])).modes()
    assert [mode.restarts for mode in modes] == [(0,), (1,)]


def test_modes_respect_direction() -> None:
    graphs = stack(
        [
            graph(3, [(0, 1), (0, 2)], DIRECTED),
            graph(3, [(1, 0), (2, 0)], DIRECTED),
            graph(3, [(2, 0), (2, 1)], DIRECTED),
        ]
    )
    assert [mode.restarts for mode in explanation(graphs).modes()] == [(0, 2), (1,)]


def test_nearly_equal_numbers_are_the_same() -> None:
    spec = GraphSpec(nodes=(Categorical(2), Continuous(1, 0.0, 1.0)), class_names=("a", "b"))
    base = graph(3, TRIANGLE, COLOURED)

    def with_number(value: float) -> DenseGraphs:
        nodes = torch.cat([base.nodes, torch.full((1, 3, 1), value, dtype=torch.double)], dim=2)
        return replace(base, spec=spec, nodes=nodes)

    graphs = stack([with_number(value) for value in (0.3011, 0.3012, 0.7)])
    assert [mode.restarts for mode in explanation(graphs).modes()] == [(0, 1), (2,)]


def test_improbable_and_empty_graphs_are_no_modes() -> None:
    graphs = stack([graph(4, TRIANGLE), graph(4, []), graph(4, SQUARE)])
    one = explanation(graphs, probabilities=[0.9, 0.95, 0.3])
    assert [mode.restarts for mode in one.modes()] == [(0,)]
    assert [mode.restarts for mode in one.modes(least_probability=0.2)] == [(0,), (2,)]
    assert one.modes(least_probability=0.99) == []
