from __future__ import annotations

import networkx as nx
import pytest

from gnninterpreter.evidence.patterns.offers import Offers
from gnninterpreter.evidence.patterns.typed import ANY, NESTED, SHARING, Typed

PATH = Typed((0, 1, 0), {(0, 1): 5, (1, 2): 6})
STAR = Typed((0, 1, 1), {(0, 1): 0, (0, 2): 0})
LARGE = Typed((1,) * 65, {(0, 64): 0})


def test_neighbours_of_each_kind_are_counted():
    offers = Offers([PATH, STAR, LARGE])
    # One word for each of the small graphs, two for the one with 65 nodes.
    assert (offers.start.tolist(), offers.end.tolist()) == ([0, 1, 2], [1, 2, 4])
    assert offers.having([(0, -1, -1, 0)]).tolist() == [0b101, 0b001, 0, 0]
    assert offers.having([(1, 10, 0, 1)]).tolist() == [0b010, 0, 0, 0]
    assert offers.having([(0, 0, 1, 2)]).tolist() == [0, 0b001, 0, 0]
    assert not offers.having([(0, 0, 1, 3)]).any()
    assert offers.having([(1, -1, -1, 0), (1, 0, 1, 1)]).tolist() == [0, 0, 1, 1]


def test_open_kinds_take_any():
    offers = Offers([STAR, LARGE])
    assert offers.having([(ANY, -1, -1, 0)]).tolist() == [0b111, 2**64 - 1, 1]
    assert offers.having([(0, 0, ANY, 2)]).tolist() == [0b001, 0, 0]
    assert offers.having([(ANY, 0, 1, 2)]).tolist() == [0b001, 0, 0]


def test_the_ends_of_a_directed_edge_have_different_codes():
    offers = Offers([Typed((0, 0), {(0, 1): 3}, directed=True)])
    assert offers.having([(0, 6, 0, 1)]).tolist() == [0b01]
    assert offers.having([(0, 7, 0, 1)]).tolist() == [0b10]


def test_rings_and_what_lies_between_them():
    # Two triangles with a way of one node between them, and a tail.
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (4, 6), (6, 7)]
    offers = Offers([Typed((0,) * 8, dict.fromkeys(edges, 1)), PATH])
    assert offers.having([(ANY, 2, NESTED, 2)]).tolist() == [0b01111111, 0]
    assert not offers.having([(ANY, 2, NESTED, 3)]).any()
    assert not offers.having([(ANY, 0, NESTED, 2)]).any()


def test_links_whose_ends_share_neighbours_are_counted():
    # A diamond with a tail: the ends of its middle link share two neighbours.
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)]
    offers = Offers([PATH, Typed((0,) * 5, dict.fromkeys(edges, 1))])
    assert offers.having([(ANY, 1, SHARING, 2)]).tolist() == [0, 0b01111]
    assert offers.having([(ANY, 1, SHARING, 3)]).tolist() == [0, 0b00110]
    assert offers.having([(ANY, 2, SHARING, 1)]).tolist() == [0, 0b00110]
    assert not offers.having([(ANY, 3, SHARING, 1)]).any()


@pytest.mark.parametrize("order", [(2, 3, 4), (4, 2, 3)])
def test_what_is_dense_is_what_networkx_finds_in_any_order_of_asking(order):
    graph = nx.gnp_random_graph(40, 0.1, seed=1)
    offers = Offers([Typed((0,) * 40, dict.fromkeys(graph.edges, 0))])
    for least in order:
        dense = sum(1 << node for node in nx.k_core(graph, least))
        assert int.from_bytes(offers.having([(ANY, 0, NESTED, least)]).tobytes(), "little") == dense
        wide = sum(1 << node for node, degree in graph.degree if degree >= least)
        assert int.from_bytes(offers.having([(0, 0, 0, least)]).tobytes(), "little") == wide
