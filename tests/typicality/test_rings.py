import networkx as nx
import pytest
import torch

from gnninterpreter.typicality.environments import smallest_cycles


def cycles(graph):
    edge = torch.from_numpy(nx.to_numpy_array(graph, nodelist=range(len(graph)))).gt(0)
    size, count = smallest_cycles(edge.unsqueeze(0))
    return {(i, j): (int(size[0, i, j]), int(count[0, i, j])) for i, j in graph.edges}


def test_a_cycle_with_a_tail():
    found = cycles(nx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5)]))
    assert {pair: value[0] for pair, value in found.items() if value[0]} == dict.fromkeys(
        [(0, 1), (1, 2), (2, 3), (0, 3)], 4
    )
    assert found[3, 4] == found[4, 5] == (0, 0)


def test_two_hexagons_that_share_an_edge():
    naphthalene = nx.Graph(nx.cycle_graph(6).edges)
    naphthalene.add_edges_from([(0, 6), (6, 7), (7, 8), (8, 9), (9, 5)])
    found = cycles(naphthalene)
    assert found[0, 5] == (6, 2)
    assert [value for pair, value in found.items() if pair != (0, 5)] == [(6, 1)] * 10


def test_a_cage_and_a_bridge():
    # Every edge of a cube is on two squares; in three paths of two steps between two nodes, each
    # edge is on two squares as well.
    assert set(cycles(nx.cubical_graph()).values()) == {(4, 2)}
    assert set(cycles(nx.complete_bipartite_graph(2, 3)).values()) == {(4, 2)}
    # Two triangles joined by an edge, which is on no cycle.
    joined = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    assert cycles(joined)[2, 3] == (0, 0)


@pytest.mark.parametrize(("size", "told"), [(3, 3), (7, 7), (8, 8), (9, 0)])
def test_cycles_are_told_up_to_eight_nodes(size, told):
    assert {value[0] for value in cycles(nx.cycle_graph(size)).values()} == {told}


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_taking_the_edge_out_says(seed):
    # Complete graphs of twenty nodes have counts that single precision does not hold.
    size, density = [(8, 0.3), (12, 0.2), (12, 0.5), (16, 0.15), (20, 0.12), (20, 1.0)][seed]
    graph = nx.gnp_random_graph(size, density, seed=seed)
    for (i, j), (least, count) in cycles(graph).items():
        rest = graph.copy()
        rest.remove_edge(i, j)
        ways = list(nx.all_shortest_paths(rest, i, j)) if nx.has_path(rest, i, j) else []
        short = ways and len(ways[0]) <= 8
        assert (least, count) == ((len(ways[0]), len(ways)) if short else (0, 0))
