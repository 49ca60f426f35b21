"""The fewest nodes with which pieces that make a class are like other pieces of their size."""

import torch

from gnninterpreter.typicality.fitting import fit
from gnninterpreter.typicality.pieces import to_dense
from gnninterpreter.typicality.references import References
from gnninterpreter.typicality.sizes import least_nodes, showing_nodes
from tests.typicality.some import PLAIN, graph, path


def tailed_ring(ring: int, tail: int):
    """A ring with a path that hangs on it."""
    edges = [(i, (i + 1) % ring) for i in range(ring)]
    return graph([*edges, *((ring + i - 1, ring + i) for i in range(tail))], ring + tail)


def least(graphs, certain):
    dense = to_dense(certain, PLAIN, 16)
    frame = fit(References(dense, False, torch.ones(len(certain), dtype=torch.bool))).graph_frame
    return least_nodes(graphs, dense, frame, 3)


def test_where_any_piece_is_one_of_the_class_the_smallest_will_do():
    graphs = [path(20 + i) for i in range(40)]
    assert least(graphs, [path(n) for n in (4, 5, 6, 7, 8) for _ in range(3)]) == 4


def test_what_is_an_exception_among_pieces_of_its_size_has_to_be_larger():
    # Of a hundred nodes four are on the ring, so that hardly any piece holds it.
    graphs = [tailed_ring(4, 96 + i) for i in range(40)]
    rings = [tailed_ring(4, tail) for tail in range(5) for _ in range(3)]
    assert least(graphs, rings) == 3  # No size up to half of the largest will do.
    assert least(graphs, [*rings[:6], *[path(7)] * 3]) == 7


def test_graphs_that_are_too_few_leave_the_size_as_it_is():
    assert least([path(20)] * 3, [path(n) for n in (4, 5, 6)]) == 3


def test_pieces_are_as_large_as_they_need_to_be_to_show_a_class():
    graphs = [path(100)] * 20

    def at_least(nodes):
        return lambda pieces: pieces.num_nodes >= nodes

    assert showing_nodes(graphs, PLAIN, 8, 500, at_least(3)) == 8
    assert showing_nodes(graphs, PLAIN, 8, 500, at_least(30)) == 32
    assert showing_nodes(graphs, PLAIN, 8, 50, at_least(60)) == 50
    assert showing_nodes(graphs, PLAIN, 8, 500, at_least(200)) == 100
