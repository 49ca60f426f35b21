"""Handling batches of discrete graphs: nothing the native model would see is lost."""

from __future__ import annotations

import networkx as nx
import pytest
import torch

from gnninterpreter.batches import compact, present_nodes, repeat, widened, with_varied_absent_nodes
from gnninterpreter.graphs import DenseGraphs, random_graphs, to_networkx
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.tiny import COLOURED, DIRECTED, PLAIN, RICH, graph, stack

SPECS = {"plain": PLAIN, "rich": RICH, "directed": DIRECTED}


def some(spec: GraphSpec, seed: int = 0, size: int = 7, absent: int = 3) -> DenseGraphs:
    generator = torch.Generator().manual_seed(seed)
    return random_graphs(spec, 5, size, generator, dtype=torch.float64, absent=absent)


def assert_natively_same(one: DenseGraphs, other: DenseGraphs) -> None:
    for a, b in zip(one.to_data_list(), other.to_data_list(), strict=True):
        assert torch.equal(a.x, b.x)
        assert torch.equal(a.edge_index, b.edge_index)
        assert (a.edge_attr is None) == (b.edge_attr is None)
        assert a.edge_attr is None or torch.equal(a.edge_attr, b.edge_attr)


@pytest.mark.parametrize("name", SPECS)
def test_compact_graphs_are_the_same_on_fewer_candidates(name: str) -> None:
    graphs = some(SPECS[name])
    small = compact(graphs)
    most = int(present_nodes(graphs).sum(dim=1).max())
    assert small.num_candidates == max(most, 3) < graphs.num_candidates
    assert_natively_same(small, graphs)


def test_compact_keeps_what_is_full_and_leaves_three_candidates() -> None:
    full = graph(4, [(0, 1), (2, 3)])
    assert compact(full) is full
    assert compact(graph(6, [(4, 5)])).num_candidates == 3
    assert compact(graph(6, [])).num_candidates == 3


@pytest.mark.parametrize("name", SPECS)
def test_widened_graphs_are_the_same_on_more_candidates(name: str) -> None:
    graphs = some(SPECS[name])
    wide = widened(graphs, 10)
    assert wide.num_candidates == 10
    assert_natively_same(wide, graphs)
    assert wide.edges is None or wide.edges.shape[:3] == (5, 10, 10)
    assert widened(graphs, 5) is graphs


def test_present_nodes_are_those_at_either_end() -> None:
    one = graph(4, [(0, 2)], DIRECTED)
    assert present_nodes(one).tolist() == [[True, False, True, False]]


@pytest.mark.parametrize("name", SPECS)
def test_choose_and_repeat(name: str) -> None:
    one, other = some(SPECS[name], 0), some(SPECS[name], 1)
    mask = torch.tensor([True, False, True, True, False])
    mixed = one.where(mask, other)
    for b, first in enumerate(mask.tolist()):
        assert_natively_same(mixed[b], (one if first else other)[b])
    thrice = repeat(one, 3)
    assert len(thrice) == 15
    for b in range(15):
        assert_natively_same(thrice[b], one[b // 3])


def test_absent_nodes_get_each_category_in_turn() -> None:
    spec = GraphSpec(nodes=(Categorical(2), Continuous(1), Categorical(2)))
    graphs = some(spec, size=8, absent=6)
    varied = with_varied_absent_nodes(graphs)
    present = present_nodes(graphs)
    assert torch.equal(varied.nodes[present], graphs.nodes[present])
    assert torch.equal(varied.nodes[..., 2], graphs.nodes[..., 2])
    assert_natively_same(varied, graphs)
    for b in range(len(graphs)):
        absent = varied.nodes[b][~present[b]]
        pairs = {(int(row[:2].argmax()), int(row[3:].argmax())) for row in absent}
        assert pairs == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_an_edge_to_an_absent_node_can_bring_in_any_colour() -> None:
    one = graph(5, [(0, 1)], COLOURED, colours=[0, 0, 0, 0, 0])
    varied = with_varied_absent_nodes(one)
    assert {int(row.argmax()) for row in varied.nodes[0, 2:]} == {0, 1}


def test_compact_graphs_are_isomorphic_to_what_they_were() -> None:
    graphs = stack([graph(9, [(8, 2), (2, 5), (5, 8), (5, 7)])])
    small = to_networkx(compact(graphs).to_data_list()[0], PLAIN)
    paw = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    assert nx.is_isomorphic(small, paw)


@pytest.mark.parametrize("name", SPECS)
def test_replaced_graphs_are_the_others_where_they_take_their_place(name: str) -> None:
    graphs, others = some(SPECS[name]), some(SPECS[name], seed=1)
    before = repeat(graphs, 1)
    result = graphs.merged(torch.tensor([3, 1]), others[torch.tensor([0, 4])])
    assert_natively_same(result[torch.tensor([3, 1])], others[torch.tensor([0, 4])])
    assert_natively_same(result[torch.tensor([0, 2, 4])], graphs[torch.tensor([0, 2, 4])])
    assert_natively_same(graphs, before)
    assert_natively_same(graphs.merged(torch.tensor([], dtype=torch.long), others[:0]), graphs)
