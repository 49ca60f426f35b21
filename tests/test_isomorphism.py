"""The same graph whatever its nodes are called; another one where any feature differs."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.graphs import random_graphs
from gnninterpreter.isomorphism import (
    GraphNumbers,
    LabelledGraph,
    distinct,
    graph_key,
    most_alike,
    same_graph,
)
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.tiny import PLAIN, RICH, specs


def data(edges: list[tuple[int, int]], x: Tensor | None = None, both: bool = True) -> Data:
    forth = torch.tensor(edges).reshape(-1, 2).t()
    index = torch.cat([forth, forth.flip(0)], dim=1) if both else forth
    nodes = int(forth.max()) + 1
    return Data(x=torch.ones(nodes, 1) if x is None else x, edge_index=index, num_nodes=nodes)


def plain(graph: nx.Graph) -> Data:
    return data(list(nx.convert_node_labels_to_integers(graph).edges))


def renumbered(graph: Data, seed: int) -> Data:
    """The same graph with its nodes and edges in another order."""
    generator = torch.Generator().manual_seed(seed)
    place = torch.randperm(graph.num_nodes, generator=generator)
    order = torch.randperm(graph.num_edges, generator=generator)
    made = Data(
        x=graph.x[place.argsort()],
        edge_index=place[graph.edge_index][:, order],
        num_nodes=graph.num_nodes,
    )
    if graph.get("edge_attr") is not None:
        made.edge_attr = graph.edge_attr[order]
    return made


@settings(max_examples=40, deadline=None)
@given(spec=specs(), seed=st.integers(0, 1000))
def test_renumbering_makes_no_difference(spec: GraphSpec, seed: int) -> None:
    one = random_graphs(spec, 1, 6, torch.Generator().manual_seed(seed)).to_data_list()[0]
    other = renumbered(one, seed)
    assert graph_key(one, spec) == graph_key(other, spec)
    assert same_graph(one, other, spec)
    assert distinct([one, other, one], spec) == [[0, 1, 2]]


def rich(
    code: int = 0, value: float = 0.5, last: int = 0, kind: int = 1, bond: float = 1.0
) -> Data:
    """A path of three nodes with features of all sorts."""
    x = torch.tensor([[1, 0, 0.1, 1, 0, 0], [1, 0, 0.2, 0, 1, 0], [0, 0, 0.0, 0, 0, 0]])
    x[2, code], x[2, 2], x[2, 3 + last] = 1.0, value, 1.0
    row = torch.tensor([0.0, 0.0, 0.0, 0.3, bond])
    row[kind] = 1.0
    first = torch.tensor([1.0, 0.0, 0.0, 0.3, 1.0])
    attributes = torch.stack([first, row, first, row])
    return Data(x=x, edge_index=torch.tensor([[0, 1, 1, 2], [1, 2, 0, 1]]), edge_attr=attributes)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({}, True),
        ({"code": 1}, False),
        ({"last": 2}, False),
        ({"kind": 2}, False),
        ({"value": 0.505}, True),
        ({"value": 0.7}, False),
        ({"bond": 1.009}, True),
        ({"bond": 1.5}, False),
    ],
    ids=str,
)
def test_every_block_of_nodes_and_edges_counts(other: dict[str, float], same: bool) -> None:
    assert same_graph(rich(), renumbered(rich(**other), 3), RICH) is same  # type: ignore[arg-type]


def test_numbers_next_to_a_rounding_border_are_close() -> None:
    """0.4949 and 0.4951 round to 0.49 and 0.50."""
    spec = GraphSpec(nodes=(Continuous(1),))
    one, other = (data([(0, 1)], torch.tensor([[v], [0.0]])) for v in (0.4949, 0.4951))
    assert same_graph(one, other, spec)


def test_blocks_of_equal_names_are_all_looked_at() -> None:
    spec = GraphSpec(nodes=(Categorical(2, encoding="index"), Categorical(2, encoding="index")))
    one = data([(0, 1)], torch.tensor([[0, 0], [1, 0]]))
    other = data([(0, 1)], torch.tensor([[0, 0], [0, 0]]))
    assert not same_graph(one, other, spec)


def test_direction_counts_where_there_is_one() -> None:
    spec = GraphSpec(directed=True)
    out = data([(0, 1), (0, 2)], both=False)
    into = data([(1, 0), (2, 0)], both=False)
    assert not same_graph(out, into, spec)
    assert same_graph(out, renumbered(out, 1), spec)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Refinement cannot tell these apart.
        (nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))),
        (nx.circular_ladder_graph(5), nx.petersen_graph()),
        # Nor can closed walks of any length tell these: strongly regular, of the same parameters.
        (
            nx.line_graph(nx.complete_bipartite_graph(4, 4)),
            nx.Graph(
                (16 * 0 + 4 * a + b, 4 * ((a + da) % 4) + (b + db) % 4)
                for a in range(4)
                for b in range(4)
                for da, db in ((0, 1), (1, 0), (1, 1))
            ),
        ),
    ],
    ids=["triangles", "petersen", "shrikhande"],
)
def test_graphs_that_are_alike_everywhere(one: nx.Graph, other: nx.Graph) -> None:
    assert sorted(d for _, d in one.degree) == sorted(d for _, d in other.degree)
    assert not same_graph(plain(one), plain(other), PLAIN)
    assert distinct([plain(one), plain(other), renumbered(plain(one), 2)], PLAIN) == [[0, 2], [1]]


def test_large_graphs_are_told_apart_by_their_keys() -> None:
    one, other = plain(nx.cycle_graph(60)), plain(nx.circular_ladder_graph(30))
    assert same_graph(one, renumbered(one, 1), PLAIN)
    assert not same_graph(one, other, PLAIN)
    tree = plain(nx.random_labeled_tree(60, seed=1))
    assert not same_graph(tree, plain(nx.random_labeled_tree(60, seed=2)), PLAIN)


def test_keys_do_not_change_between_processes() -> None:
    assert graph_key(data([(0, 1), (1, 2)]), PLAIN) == graph_key(data([(2, 0), (2, 1)]), PLAIN)
    assert graph_key(data([(0, 1)]), PLAIN) == "28ab99a777d07beccdf2266e"


def test_graphs_are_numbered_as_they_come() -> None:
    numbers = GraphNumbers()
    path, triangle = data([(0, 1), (1, 2)]), data([(0, 1), (1, 2), (2, 0)])
    found = [numbers.of(one, PLAIN) for one in (path, triangle, renumbered(path, 1), path)]
    assert found == [0, 1, 0, 0]
    assert numbers.count == 2
    assert numbers.add(LabelledGraph.of(triangle, PLAIN)) == 1


def test_graphs_without_nodes_or_edges() -> None:
    nothing = Data(x=torch.ones(0, 1), edge_index=torch.zeros(2, 0, dtype=torch.long))
    single = Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=1)
    assert distinct([nothing, single, nothing], PLAIN) == [[0, 2], [1]]


def test_the_most_alike_are_shown_once_each() -> None:
    ring, path = plain(nx.cycle_graph(5)), plain(nx.path_graph(5))
    graphs = [path, ring, renumbered(ring, 1), renumbered(ring, 2), plain(nx.star_graph(4))]
    alike = torch.tensor([0.7, 0.8, 1.0, 0.9, 0.1])
    assert most_alike(graphs, alike, 2, PLAIN) == [2, 0]
    assert most_alike(graphs, alike, 9, PLAIN) == [2, 0, 4]
