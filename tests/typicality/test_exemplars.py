import pytest
import torch

from gnninterpreter.distribution import Streams
from gnninterpreter.errors import CheckpointError
from gnninterpreter.typicality import Exemplars, References, choose_exemplars, distinct_rows, fit
from gnninterpreter.typicality.pieces import to_dense
from tests.typicality.some import BONDS, PLAIN, path, ring, shuffled, whole


def test_each_graph_is_chosen_once_and_certain_ones_only():
    graphs = [ring(size) for size in (4, 5, 6, 7, 8, 9, 10, 11, 12)] * 3
    real = whole(graphs, PLAIN)
    certain = real.graphs.num_nodes != 7
    chosen = choose_exemplars(References(real.graphs, True, certain), fit(real))
    assert sorted(chosen.graphs.num_nodes.tolist()) == [4, 5, 6, 8, 9, 10, 11, 12]


def test_where_the_model_is_certain_of_none_a_few_are_taken_all_the_same():
    real = whole([ring(size) for size in (4, 5, 6)] * 3, PLAIN)
    nothing = References(real.graphs, True, torch.zeros(9, dtype=torch.bool))
    assert len(choose_exemplars(nothing, fit(real))) == 3


def test_the_order_of_nodes_makes_no_other_graph():
    real = whole([path(4), ring(4), ring(5)], PLAIN, 5)
    both = to_dense([path(4), path(4), ring(4)], PLAIN, 5)
    both.weight[1] = shuffled(both, [2, 0, 3, 1, 4]).weight[1]
    assert distinct_rows(both, fit(real)).tolist() == [0, 2]


def test_stored_exemplars_are_the_same():
    graphs = [ring(n, kinds=[0, 1, 2, 0, 1][:n], bonds=[0, 1, 0, 1, 1][:n]) for n in (3, 4, 5)]
    real = whole(graphs, BONDS, 6)
    chosen = choose_exemplars(real, fit(real))
    stored = chosen.tensors()
    again = Exemplars.from_tensors(stored, BONDS)
    here = chosen.graphs.weight > 0
    assert torch.equal(again.graphs.weight, chosen.graphs.weight)
    assert torch.equal(again.graphs.nodes, chosen.graphs.nodes)
    assert torch.equal(again.graphs.edges[here], chosen.graphs.edges[here])
    del stored["edges"]
    with pytest.raises(CheckpointError, match="edges"):
        Exemplars.from_tensors(stored, BONDS)


def test_restarts_begin_at_graphs_of_their_own_whatever_their_number():
    graphs = to_dense([ring(size) for size in range(3, 13)], PLAIN)
    chosen = Exemplars(graphs, torch.linspace(0, 90, 10))
    few, many = chosen.begin(Streams(3, 2), 4), chosen.begin(Streams(3, 6), 4)
    assert torch.equal(few.weight, many.weight[:8])
    # Not one twice for a restart.
    assert len(set(few.num_nodes[:4].tolist())) == 4
    # Eight of ten reach 20.
    assert chosen.begin(Streams(0, 20), 8, bar=20.0).num_nodes.min() == 5


def test_what_is_unlike_the_class_is_no_beginning_while_there_is_something_else():
    graphs = to_dense([ring(size) for size in (12, 11, 10, 9, 3, 4, 5, 6, 7, 8)], PLAIN)
    chosen = Exemplars(graphs, torch.tensor([90.0, 80, 70, 20, 0, 0, 0, 0, 0, 0]))
    # Fewer than eight reach 40, so that 9 is taken as well; the small ones are like nothing real.
    assert set(chosen.begin(Streams(0, 20), 4, bar=40.0).num_nodes.tolist()) == {9, 10, 11, 12}
    # The smaller of two, not of all: else every restart would begin at the same.
    assert len(set(chosen.begin_small(Streams(0, 20), 40.0).num_nodes.tolist())) > 1
    nothing = Exemplars(graphs, torch.zeros(10))
    assert len(set(nothing.begin(Streams(0, 20), 8, bar=40.0).num_nodes.tolist())) == 8
