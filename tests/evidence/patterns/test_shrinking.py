from __future__ import annotations

import random

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.parts import Parts, margin
from gnninterpreter.evidence.patterns.shrinking import removable, shrink
from gnninterpreter.evidence.patterns.typed import Typed, bits, typed_graphs
from gnninterpreter.models.classifier import Scores
from gnninterpreter.typicality.pieces import cut
from tests.evidence.patterns.pairs import PAIRED_CLASS, SPEC, chain, classifier


def test_parts_are_scored_as_the_graphs_they_are():
    model, graphs = classifier(), [chain("bbrrb"), chain("rrbrr"), chain("br")]
    asked = [(0, 0b11100), (1, 0b11111), (1, 0b00111), (2, 0b01), (0, 0b00011)]
    cuts = [cut(graphs[number], list(bits(nodes))) for number, nodes in asked]
    expected = model.score_data(cuts).logits
    assert torch.allclose(Parts(model, graphs).logits(asked), expected)
    assert Parts(model, graphs).logits([]).shape == (0, 2)


def test_margin_is_the_log_odds():
    logits = torch.tensor([[1.0, 3.0, 0.0]])
    p = logits.double().softmax(1)[0, 1]
    assert float(margin(Scores(logits, logits), PAIRED_CLASS)) == pytest.approx(
        float((p / (1 - p)).log())
    )


def test_removable_nodes_are_those_that_leave_one_piece():
    rng = random.Random(1)
    for _ in range(60):
        graph = nx.gnp_random_graph(7, 0.35, seed=rng.randrange(10**6))
        nodes = max(nx.connected_components(graph), key=len)
        typed = Typed((0,) * 7, {(min(e), max(e)): 0 for e in graph.edges})
        mask = sum(1 << node for node in nodes)
        part = graph.subgraph(nodes)
        free = set(nodes) - set(nx.articulation_points(part)) if len(nodes) > 1 else set()
        assert set(bits(removable(typed, mask))) == free


def test_shrinks_to_what_the_model_needs():
    graphs = [chain("bbrrbbb"), chain("rbbbrrb"), chain("bbbbb")]
    pieces = shrink(
        Parts(classifier(), graphs), typed_graphs(graphs, SPEC), PAIRED_CLASS, 0.99, least=2
    )
    last = {piece.source: piece for piece in pieces if piece.last}
    assert set(last) == {0, 1}
    assert list(bits(last[0].nodes)) == [2, 3]
    assert list(bits(last[1].nodes)) == [4, 5]
    assert all(
        piece.probability == pytest.approx(1 / (1 + torch.e**-10), abs=1e-6) for piece in pieces
    )
    sizes = [piece.nodes.bit_count() for piece in pieces if piece.source == 0]
    assert sizes == [7, 6, 5, 4, 3, 2]


def test_large_graphs_lose_several_nodes_at_once_and_end_at_the_same():
    graphs = [chain("b" * 40 + "rr" + "b" * 40)]
    pieces = shrink(
        Parts(classifier(), graphs), typed_graphs(graphs, SPEC), PAIRED_CLASS, 0.99, least=2
    )
    assert list(bits(pieces[-1].nodes)) == [40, 41]
    assert all(p.nodes.bit_count() <= 12 for p in pieces)


def test_of_large_graphs_what_lies_around_a_node_is_tried_first(monkeypatch):
    """Without it each node of the whole graph that can be lost is asked about."""
    ends = nx.star_graph(60).edges
    links = torch.tensor([*ends, *((j, i) for i, j in ends)]).t()
    x = torch.eye(2)[[1, 1] + [0] * 59]
    graph, asked = Data(x=x, edge_index=links), []
    plain = Parts.logits
    monkeypatch.setattr(Parts, "logits", lambda p, some: asked.extend(some) or plain(p, some))
    model, typed = classifier(), typed_graphs([graph], SPEC)
    for singly, large in ((30, False), (18, True)):
        asked.clear()
        pieces = shrink(Parts(model, [graph]), typed, PAIRED_CLASS, 0.99, least=2, singly=singly)
        assert list(bits(pieces[-1].nodes)) == [0, 1]
        assert (max(nodes.bit_count() for _, nodes in asked[1:]) <= 30) == large


def test_least_and_largest_bound_the_pieces():
    graphs = [chain("bbrrbbb")]
    typed = typed_graphs(graphs, SPEC)
    pieces = shrink(Parts(classifier(), graphs), typed, PAIRED_CLASS, 0.99, largest=4, least=3)
    assert [piece.nodes.bit_count() for piece in pieces] == [4, 3]


def test_only_the_largest_part_of_a_graph_in_pieces_is_kept():
    graph = chain("bbrrb")
    graph.edge_index = graph.edge_index[:, [1, 2, 3, 5, 6, 7]]
    pieces = shrink(
        Parts(classifier(), [graph]), typed_graphs([graph], SPEC), PAIRED_CLASS, 0.99, least=2
    )
    assert pieces[0].nodes == 0b11110


@pytest.mark.parametrize(("bar", "least", "said"), [(0.0, 3, "bar must"), (0.9, 0, "least must")])
def test_refuses_what_makes_no_sense(bar, least, said):
    with pytest.raises(DataError, match=said):
        shrink(Parts(classifier(), [chain("rr")]), [], PAIRED_CLASS, bar, least=least)


def test_parts_come_out_the_same_in_small_batches_and_one_by_one(monkeypatch):
    model, graphs = classifier(), [chain("bbrrb"), chain("rrbrr")]
    asked = [(0, 0b11100), (1, 0b11111), (1, 0b00111), (0, 0b00011)]
    whole = Parts(model, graphs).logits(asked)
    monkeypatch.setattr("gnninterpreter.evidence.patterns.parts.CACHED_NODES", 4)
    assert torch.equal(Parts(model, graphs).logits(asked), whole)
    model.batched = False
    assert torch.equal(Parts(model, graphs).logits(asked), whole)


def test_of_graphs_in_pieces_the_largest_certain_one_is_shrunk():
    """A chain without a red pair beside a smaller one that has it."""
    one, two = chain("bbbbb"), chain("rrb")
    joined = Data(
        x=torch.cat([one.x, two.x]),
        edge_index=torch.cat([one.edge_index, two.edge_index + 5], dim=1),
    )
    typed = typed_graphs([joined], SPEC)
    found = shrink(Parts(classifier(), [joined]), typed, PAIRED_CLASS, 0.99)
    assert [list(bits(piece.nodes)) for piece in found] == [[5, 6, 7], [5, 6]]
