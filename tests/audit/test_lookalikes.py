from __future__ import annotations

from collections import Counter

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx, to_networkx

from gnninterpreter.audit.lookalikes import covers, invariant, lookalikes, switches
from gnninterpreter.audit.truth import true_motifs

MOTIFS = true_motifs("motif")


def plain(graph: nx.Graph) -> Data:
    data = from_networkx(graph)
    data.x = torch.ones(data.num_nodes, 1)
    return data


def seen(graph: Data) -> Counter[object]:
    """What nodes see: their own features and those of their neighbours."""
    rows = graph.x.tolist()
    found = []
    for node in range(graph.num_nodes):
        near = graph.edge_index[1][graph.edge_index[0] == node].tolist()
        found.append((tuple(rows[node]), tuple(sorted(tuple(rows[other]) for other in near))))
    return Counter(found)


@pytest.mark.parametrize(("name", "count"), [("complete-4", 7), ("house-x", 15)])
def test_numbers_of_double_covers(name: str, count: int) -> None:
    assert len(covers(MOTIFS[name])) == count


@pytest.mark.parametrize("name", list(MOTIFS))
def test_every_node_of_a_cover_sees_what_its_original_sees(name: str) -> None:
    once = seen(MOTIFS[name])
    for cover in covers(MOTIFS[name]):
        assert seen(cover) == Counter({key: 2 * n for key, n in once.items()})
        assert nx.is_connected(to_networkx(cover, to_undirected=True))


def test_a_triple_cover_of_a_triangle_is_a_ring_of_nine() -> None:
    found = covers(plain(nx.cycle_graph(3)), folds=3)
    assert len(found) == 1
    assert nx.is_isomorphic(to_networkx(found[0], to_undirected=True), nx.cycle_graph(9))


def test_a_tree_has_no_connected_cover() -> None:
    assert covers(plain(nx.star_graph(4))) == []


def test_many_free_edges_are_drawn_from() -> None:
    found = covers(plain(nx.complete_graph(8)))
    assert found
    assert all(cover.num_nodes == 16 for cover in found)


def test_switches_keep_what_nodes_see_and_change_the_graph() -> None:
    start = plain(nx.circular_ladder_graph(4))
    found = switches(start)
    assert found
    for switched in found:
        assert seen(switched) == seen(start)
        assert invariant(switched) != invariant(start)


def test_switches_carry_the_features_of_edges() -> None:
    start = plain(nx.circular_ladder_graph(4))
    pairs = start.edge_index.t().tolist()
    start.edge_attr = torch.tensor([[1.0, 0.0] if sum(p) % 2 else [0.0, 1.0] for p in pairs])
    for switched in switches(start):
        assert switched.edge_attr.sum(0).tolist() == start.edge_attr.sum(0).tolist()


def test_nothing_to_imitate() -> None:
    empty = Data(x=torch.ones(1, 1), edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=1)
    assert lookalikes(empty) == []


def test_the_invariant_does_not_depend_on_the_order_of_nodes() -> None:
    house = MOTIFS["house"]
    order = torch.tensor([3, 1, 4, 0, 2])
    shuffled = Data(x=house.x[order.argsort()], edge_index=order[house.edge_index], num_nodes=5)
    assert invariant(shuffled) == invariant(house)
