from __future__ import annotations

import torch
from torch_geometric.data import Data

from gnninterpreter.evidence.patterns.typed import (
    ANY,
    NESTED,
    SHARING,
    Typed,
    as_bits,
    bits,
    typed_graphs,
)
from gnninterpreter.spec import Categorical, Continuous, GraphSpec

PATH = Typed((0, 1, 0), {(0, 1): 5, (1, 2): 6})


def test_bits_are_in_ascending_order():
    assert list(bits(0b10110)) == [1, 2, 4]
    assert list(bits(0)) == []
    assert as_bits(bits(0b10110)) == 0b10110


def test_pieces_and_what_is_around_nodes():
    graph = Typed((0,) * 5, {(0, 1): 0, (1, 2): 0, (3, 4): 0})
    assert graph.whole == 0b11111
    assert graph.pieces() == [0b00111, 0b11000]
    assert graph.around(0b00001) == 0b00010
    assert graph.around(0b01010) == 0b10101


def test_all_categories_of_a_node_make_its_kind_and_numbers_do_not():
    spec = GraphSpec(nodes=(Categorical(2), Continuous(1), Categorical(3)), edges=(Categorical(4),))
    data = Data(
        x=torch.tensor([[0.0, 1, 0.3, 0, 0, 1], [1.0, 0, 0.9, 1, 0, 0]]),
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        edge_attr=torch.eye(4)[[2, 2]],
    )
    typed = typed_graphs([data], spec)[0]
    assert typed.kinds == (1 * 3 + 2, 0)
    assert typed.edges == {(0, 1): 2}
    assert [round(row[0], 3) for row in typed.values] == [0.3, 0.9]


def test_constants_and_missing_features_say_nothing():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    assert typed_graphs([data], GraphSpec())[0].kinds == (0, 0)


def test_index_coded_categories():
    spec = GraphSpec(
        nodes=(Categorical(5, encoding="index"),), edges=(Categorical(3, encoding="index"),)
    )
    data = Data(
        x=torch.tensor([[4], [2]]),
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        edge_type=torch.tensor([1, 1]),
    )
    found = typed_graphs([data], spec)[0]
    assert (found.kinds, found.edges) == ((4, 2), {(0, 1): 1})


def test_links_know_the_direction_of_an_edge():
    assert Typed((0, 0), {(0, 1): 3}).links == ({6: 0b10}, {6: 0b01})
    assert Typed((0, 0), {(0, 1): 3}, directed=True).links == ({6: 0b10}, {7: 0b01})


def test_open_kinds_ask_for_neighbours_of_any_kind():
    wide = PATH.opened([0])
    assert (wide.kinds, wide.open) == ((-1, 1, 0), (True, False, False))
    assert PATH.open == ()
    # The middle has a neighbour of any kind by its first link, and one of kind 0 by its second.
    assert sorted(wide.needs(1)) == [(1, -1, -1, 0), (1, 10, ANY, 1), (1, 12, 0, 1)]
    # An open neighbour beside a given one: two by that link, one of them of kind 1.
    star = Typed((0, 1, 1), {(0, 1): 0, (0, 2): 0})
    assert sorted(star.opened([2]).needs(0)) == [(0, -1, -1, 0), (0, 0, ANY, 2), (0, 0, 1, 1)]


def test_nodes_on_rings_need_rings():
    lollipop = {(0, 1): 0, (1, 2): 0, (0, 2): 0, (2, 3): 0}
    on_the_ring = [(ANY, 0, NESTED, 2), (ANY, 1, SHARING, 2)]
    assert Typed((0,) * 4, lollipop).knots == [on_the_ring] * 3 + [[]]
    # The ring is of two kinds of edges, and none of one alone; a triangle it is all the same.
    assert Typed((0,) * 4, {**lollipop, (0, 1): 1}).knots == [on_the_ring[1:]] * 3 + [[]]
    assert Typed((0, 0, 0, 1), lollipop).knots == [on_the_ring[:1]] * 3 + [[]]
    four = Typed((0,) * 4, {(i, j): 0 for j in range(4) for i in range(j)})
    dense = [(ANY, 0, NESTED, 2), (ANY, 0, NESTED, 3), (ANY, 2, SHARING, 3)]
    assert four.knots == [dense] * 4


def test_the_same_graph_has_the_same_key_in_any_order():
    turned = Typed((1, 0, 0), {(0, 1): 6, (0, 2): 5})
    assert turned.key == PATH.key
    assert turned.same(PATH)
    assert not Typed((1, 0, 0), {(0, 1): 6, (0, 2): 6}).same(PATH)


def test_graphs_that_refinement_cannot_tell_apart_are_still_different():
    ring = {(i, i + 1): 0 for i in range(5)} | {(0, 5): 0}
    triangles = {(0, 1): 0, (1, 2): 0, (0, 2): 0, (3, 4): 0, (4, 5): 0, (3, 5): 0}
    one, two = Typed((0,) * 6, ring), Typed((0,) * 6, triangles)
    assert one.key == two.key
    assert not one.same(two)


def test_parts_and_reach():
    assert PATH.connected()
    assert not PATH.connected(0b101)
    assert PATH.reach(0b001, 0b011) == 0b011
    assert PATH.part([2, 1]) == Typed((0, 1), {(0, 1): 6})
