from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gnninterpreter.errors import DataError
from gnninterpreter.graphs import random_graphs
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.tiny import PLAIN, RICH, specs

COLOURED = GraphSpec(
    nodes=(Categorical(3, ("red", "green", "blue"), name="colour"),),
    edges=(Categorical(2, name="bond"),),
    class_names=("a", "b"),
)


@settings(max_examples=40, deadline=None)
@given(spec=specs(), seed=st.integers(0, 1000))
def test_there_and_back(spec: GraphSpec, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    graph = random_graphs(spec, 1, 5, generator).to_data_list()[0]
    values = graph_to_json(graph, spec)
    again = graph_from_json(values, spec)
    assert graph_to_json(again, spec) == values
    torch.testing.assert_close(again.x, graph.x, atol=1e-4, rtol=1e-4)
    assert again.edge_index.shape == graph.edge_index.shape


def test_label_survives() -> None:
    values = {"nodes": [[None], [None]], "edges": [[0, 1]], "y": 1}
    graph = graph_from_json(values, PLAIN)
    assert int(graph.y) == 1
    assert graph_to_json(graph, PLAIN) == values


def test_an_undirected_edge_goes_both_ways() -> None:
    graph = graph_from_json({"nodes": [[0], [1]], "edges": [[1, 0, [1]]]}, COLOURED)
    assert graph.edge_index.tolist() == [[0, 1], [1, 0]]
    assert graph.edge_attr.tolist() == [[0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "an object"),
        ({"nodes": [], "edges": [], "path": "/etc/passwd"}, "an object"),
        ({"nodes": 3, "edges": []}, '"nodes" must be a list'),
        ({"nodes": [[0]] * 10_000, "edges": []}, "at most 500 nodes here (got 10000)"),
        ({"nodes": [[3]], "edges": []}, "from 0 to 2"),
        ({"nodes": [], "edges": [[0, 1]]}, "edge 0 ends at a node 0; there is none"),
        ({"nodes": [[True]], "edges": []}, "from 0 to 2"),
        ({"nodes": [[0, 0]], "edges": []}, "a list of 1 features"),
        ({"nodes": [[0]], "edges": [[0, 1]]}, "ends at a node 1"),
        ({"nodes": [[0]], "edges": [[0, 0]]}, "to itself"),
        ({"nodes": [[0], [0]], "edges": [[0, 1], [1, 0]]}, "already"),
        ({"nodes": [[0], [0]], "edges": [[0]]}, "two nodes"),
        ({"nodes": [[0], [0]], "edges": [[0, 1, [7]]]}, "from 0 to 1"),
        ({"nodes": [[0], [0]], "edges": [[0, 1]], "y": 2}, "the class is 2"),
    ],
)
def test_what_a_spec_cannot_express_is_refused(values: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        graph_from_json(values, COLOURED)
    assert said in str(caught.value)


@pytest.mark.parametrize("number", [9.0, float("nan"), "1", None])
def test_numbers_must_lie_in_their_range(number: Any) -> None:
    spec = GraphSpec(nodes=(Continuous(1, 0.0, 1.0),), class_names=("a", "b"))
    with pytest.raises(DataError, match=r"between 0\.0 and 1\.0"):
        graph_from_json({"nodes": [[[number]]], "edges": []}, spec)


def test_left_out_features_are_filled_in() -> None:
    graph = graph_from_json({"nodes": [[0, None, 2], [1, [3.0], 0]], "edges": [[0, 1]]}, RICH)
    assert graph.x[:, 2].tolist() == [1.0, 3.0]
    assert graph.edge_attr[0].tolist() == [1.0, 0.0, 0.0, 1.0, 1.0]


def test_a_graph_without_nodes_there_and_back() -> None:
    empty = graph_from_json({"nodes": [], "edges": []}, PLAIN)
    assert empty.num_nodes == 0
    assert graph_to_json(empty, PLAIN) == {"nodes": [], "edges": []}


def test_blocks_of_equal_names_stay_apart() -> None:
    spec = GraphSpec(nodes=(Categorical(3, encoding="index"), Categorical(5, encoding="index")))
    values = {"nodes": [[2, 4], [0, 1]], "edges": [[0, 1]]}
    assert graph_to_json(graph_from_json(values, spec), spec) == values
