from __future__ import annotations

import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import StoredGraphs
from gnninterpreter.evidence.patterns.real import chosen, in_order
from tests.evidence.patterns.pairs import chain

NO_EDGES = torch.zeros(2, 0, dtype=torch.long)


def labelled(label, count):
    graphs = []
    for _ in range(count):
        graph = chain("bb")
        graph.y = torch.tensor([label])
        graphs.append(graph)
    return graphs


def test_small_classes_leave_their_room_to_larger_ones():
    graphs = labelled(0, 50) + labelled(1, 3) + labelled(2, 50)
    few = chosen(graphs, 21, seed=1)
    assert sorted(int(graph.y) for graph in few) == [0] * 9 + [1] * 3 + [2] * 9
    again = chosen(graphs, 21, seed=1)
    assert all(one is other for one, other in zip(few, again, strict=True))


def test_few_graphs_are_all_taken():
    graphs = [chain("bb"), chain("rr"), *labelled(0.5, 2)]
    assert {id(graph) for graph in chosen(graphs, 4)} == {id(graph) for graph in graphs}
    assert len(chosen(graphs, 3)) == 3


def test_graphs_come_to_the_same_order_whatever_the_order_they_came_in():
    words = ["bbr", "rrb", "bbbb", "rb", "brb", "bb", "rbbbr"]
    graphs = [*(chain(word) for word in words), Data(x=torch.zeros(0, 2), edge_index=NO_EDGES)]
    once = in_order(graphs)
    again = in_order(graphs[::-1])
    assert all(one is other for one, other in zip(once, again, strict=True))
    assert in_order(once) is once
    assert list(in_order([])) == []


def test_stored_graphs_come_to_the_same_order_as_a_list_of_them():
    graphs = [*labelled(1, 2), *labelled(0, 1), chain("rbb")]
    graphs[3].y = torch.tensor([2])
    tensors = {
        "x": torch.cat([graph.x for graph in graphs]),
        "edge_index": torch.cat([graph.edge_index for graph in graphs], dim=1),
        "y": torch.cat([graph.y for graph in graphs]),
    }
    slices = {
        "x": torch.tensor([0, 2, 4, 6, 9]),
        "edge_index": torch.tensor([0, 2, 4, 6, 10]),
        "y": torch.arange(5),
    }
    stored = in_order(StoredGraphs(tensors, slices))
    plain = in_order(graphs)
    assert stored.order.tolist() == plain.order.tolist()
    assert stored.labels.tolist() == plain.labels.tolist() == [1.0, 1.0, 0.0, 2.0]
    (largest,) = stored.where(stored.nodes == 3)
    assert torch.equal(largest.x, graphs[3].x)
    assert stored.edges.tolist() == [2, 2, 2, 4]
