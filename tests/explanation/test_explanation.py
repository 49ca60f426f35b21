"""One explanation: its graph, its samples, its numbers."""

from __future__ import annotations

import json
from dataclasses import replace

import networkx as nx
import pytest
import torch

from gnninterpreter.errors import SpecError
from tests.explanation.made import MOLECULES, explanation
from tests.tiny import COLOURED, DIRECTED, distribution, edges_only, graph, stack

TRIANGLE = [(0, 1), (1, 2), (2, 0)]
SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]


def test_best_is_the_most_probable_graph_of_the_chosen_restart() -> None:
    one = explanation(stack([graph(5, TRIANGLE), graph(5, SQUARE)]), choice=1)
    assert one.best.num_nodes == 4
    assert one.best.num_edges == 8  # both directions, as PyG has them
    assert one.num_nodes == 4
    assert one.num_edges == 4
    assert nx.is_isomorphic(one.graph, nx.cycle_graph(4))
    assert not one.graph.is_directed()


def test_the_graph_carries_the_names_of_its_features() -> None:
    one = explanation(graph(4, [(0, 1), (1, 2)], MOLECULES, colours=[0, 1, 2, 0]))
    assert nx.get_node_attributes(one.graph, "atom") == {0: "C", 1: "N", 2: "O"}
    assert set(nx.get_edge_attributes(one.graph, "bond").values()) == {"single"}
    assert one.best.x.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert one.best.edge_attr.shape == (4, 2)


def test_a_directed_graph_stays_directed() -> None:
    one = explanation(graph(3, [(0, 1), (1, 2)], DIRECTED))
    assert one.graph.is_directed()
    assert set(one.graph.edges) == {(0, 1), (1, 2)}
    assert one.num_edges == 2


def test_properties_are_those_of_the_chosen_restart() -> None:
    graphs = stack([graph(5, TRIANGLE), graph(5, SQUARE)])
    one = explanation(graphs, probabilities=[0.99, 0.4], choice=1)
    assert (one.name, one.reason, one.converged) == ("a", "plateau", False)
    assert replace(one, choice=0).converged
    assert one.entropy == one.restarts[1].entropy < 1
    assert repr(one) == (
        "Explanation('a': probability 0.390 ± 0.020 (n=1000), 4 nodes, 4 edges, plateau)"
    )


def test_samples_come_from_the_distribution_of_the_chosen_restart() -> None:
    of = edges_only([[9.0, 9.0, 9.0], [9.0, 9.0, 0.0]], 3)
    one = explanation(of, choice=1)
    drawn = one.sample(400)
    assert len(drawn) == 400
    share = sum(data.num_edges == 6 for data in drawn) / 400
    assert share == pytest.approx(0.5, abs=0.1)
    assert {data.num_edges for data in drawn} <= {2, 4, 6}


def test_the_same_seed_gives_the_same_samples_and_more_continue_them() -> None:
    one = explanation(distribution(COLOURED, 6, dtype=torch.float32))
    first, again, other = one.sample(20), one.sample(20), one.sample(20, seed=1)
    for a, b in zip(first, again, strict=True):
        assert torch.equal(a.edge_index, b.edge_index)
        assert torch.equal(a.x, b.x)
    assert any(
        a.edge_index.shape != b.edge_index.shape or not torch.equal(a.edge_index, b.edge_index)
        for a, b in zip(first, other, strict=True)
    )
    dense = one.sample_dense(20)
    assert torch.equal(dense.to_data_list()[7].edge_index, first[7].edge_index)


@pytest.mark.parametrize("n", [0, -3])
def test_no_samples_are_no_question(n: int) -> None:
    with pytest.raises(SpecError, match=rf"n must be at least 1 \(got {n}\)"):
        explanation(graph(4, TRIANGLE)).sample(n)


def test_the_summary_is_plain_json() -> None:
    one = explanation(stack([graph(5, TRIANGLE), graph(5, SQUARE)]), target=1, choice=1)
    summary = json.loads(json.dumps(one.summary(), allow_nan=False))
    assert summary == one.summary()
    assert summary["class"] == "b"
    assert summary["probability"] == {"mean": pytest.approx(0.98), "std": 0.02, "n": 1000}
    assert (summary["nodes"], summary["edges"]) == (4, 4)
    assert summary["reason"] == "converged"
    assert [restart["iterations"] for restart in summary["restarts"]] == [20, 40]
    assert summary["notes"] == ["a note"]


def test_probabilities_read_as_people_write_them() -> None:
    assert str(explanation(graph(4, TRIANGLE)).probability) == "0.980 ± 0.020 (n=1000)"


@pytest.mark.parametrize("device", ["gpu", 1.5, "meta"])
def test_it_goes_where_something_computes(device: object) -> None:
    with pytest.raises(SpecError, match="device"):
        explanation(graph(5, TRIANGLE)).to(device)
