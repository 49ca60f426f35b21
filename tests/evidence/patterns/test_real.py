from __future__ import annotations

import torch

from gnninterpreter.evidence.patterns.real import chosen
from tests.evidence.patterns.pairs import chain


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
