from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import Subset
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from gnninterpreter.errors import DataError
from gnninterpreter.spec import GraphSpec, graph_list
from gnninterpreter.spec.data import told_size

EDGES = torch.tensor([[0, 1, 2], [1, 2, 0]])


def graph(**fields: Any) -> Data:
    return Data(**{"x": torch.eye(3), "edge_index": EDGES, "y": torch.tensor([0]), **fields})


GRAPHS = [graph(y=torch.tensor([k])) for k in range(3)]


class Indexed:
    """Something with a length and items, but no iterator."""

    name, class_names = "mine", ("a", "b", "c")

    def __len__(self) -> int:
        return len(GRAPHS)

    def __getitem__(self, index: int) -> Data:
        return GRAPHS[index]


@pytest.mark.parametrize(
    "dataset",
    [
        GRAPHS,
        tuple(GRAPHS),
        iter(GRAPHS),
        (each for each in GRAPHS),
        Indexed(),
        Subset(GRAPHS, [0, 1, 2]),  # type: ignore[arg-type]
        DataLoader(GRAPHS, batch_size=1),
        DataLoader(GRAPHS, batch_size=2),
        Batch.from_data_list(GRAPHS),
    ],
    ids=["list", "tuple", "iterator", "generator", "items", "subset", "loader", "batches", "batch"],
)
def test_whatever_holds_graphs_is_read(dataset: Any) -> None:
    graphs = graph_list(dataset)
    assert [int(each.y) for each in graphs] == [0, 1, 2]
    assert graph_list(graphs) is graphs


def test_the_rule_of_a_data_set_goes_with_its_graphs() -> None:
    class Ruled(Indexed):
        rule_of_thumb, patterns = True, ("a pattern",)

        @staticmethod
        def oracle(graph: Data) -> int:
            return 7

    for dataset in (Ruled(), Subset(Ruled(), [0]), DataLoader(Ruled())):  # type: ignore[arg-type]
        graphs = graph_list(dataset)
        assert graphs.oracle(graphs[0]) == 7
        assert (graphs.rule_of_thumb, graphs.patterns) == (True, ("a pattern",))
    assert graph_list(GRAPHS).oracle is None


def test_what_a_data_set_says_about_itself_is_kept() -> None:
    for dataset in (Indexed(), Subset(Indexed(), [0, 1, 2])):  # type: ignore[arg-type]
        graphs = graph_list(dataset)
        assert (graphs.name, graphs.class_names, graphs.spec) == ("mine", ("a", "b", "c"), None)
        assert GraphSpec.from_dataset(dataset).class_names == ("a", "b", "c")


def test_the_spec_of_a_data_set_is_found_below_a_subset() -> None:
    class Known(Indexed):
        spec = GraphSpec(class_names=("u", "v", "w"))

    assert GraphSpec.from_dataset(Subset(Known(), [0])) is Known.spec  # type: ignore[arg-type]


def test_arrays_and_lists_become_tensors_and_the_users_graph_stays() -> None:
    mine = graph(x=np.eye(3), edge_index=EDGES.tolist(), edge_attr=[[1.0], [2.0], [3.0]], y=1)
    (read,) = graph_list([mine])
    assert torch.equal(read.x, torch.eye(3, dtype=torch.double))
    assert torch.equal(read.edge_index, EDGES)
    assert read.edge_attr.shape == (3, 1)
    assert int(read.y) == 1
    assert isinstance(mine.x, np.ndarray)


def test_tensors_are_not_copied() -> None:
    mine = graph()
    assert graph_list([mine])[0] is mine


def test_truth_values_are_numbers() -> None:
    (read,) = graph_list([graph(x=torch.eye(3).bool(), y=True)])
    assert torch.equal(read.x, torch.eye(3))
    assert int(read.y) == 1


def test_a_sparse_adjacency_is_edges() -> None:
    ones = torch.ones(3)
    adjacency = torch.sparse_coo_tensor(EDGES.flip(0), ones, (3, 3), check_invariants=True)
    (read,) = graph_list([graph(edge_index=None, adj_t=adjacency)])
    assert set(map(tuple, read.edge_index.t().tolist())) == {(0, 1), (1, 2), (2, 0)}


@pytest.mark.parametrize("empty", [[], torch.zeros(2, 0), torch.zeros(0, dtype=torch.long)])
def test_no_edges_by_any_name(empty: Any) -> None:
    assert graph_list([graph(edge_index=empty)])[0].edge_index.shape == (2, 0)


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (5, r"dataset must be a data set or a list of graphs \(got int\)"),
        ("MUTAG", r"dataset must be .* \(got str\); load the graphs from it first"),
        ({"a": 1}, r"dataset must be .* \(got dict\); give one of its parts"),
        (graph(), r"\(got Data\); put a single graph into a list"),
        (iter([]), "dataset is empty"),
        (
            [graph(), 1],
            r"must hold graphs of type torch_geometric.* \(got a int at place 1\)",
        ),
        ([graph(edge_index=None)], "every graph needs an 'edge_index'"),
        (
            [graph(), graph(edge_index=EDGES.t())],
            r"'edge_index' of graph 1 must have shape \[2, edges\] \(got \[3, 2\]\); turn it round",
        ),
        ([graph(edge_index=EDGES.float())], r"must be whole numbers \(got torch.float32\)"),
        ([graph(edge_index=EDGES + 1)], r"must name nodes from 0 to 2 \(got 3\)"),
        ([graph(edge_index=EDGES - 1)], r"must name nodes from 0 to 2 \(got -1\)"),
        ([graph(x=[["a"], ["b"], ["c"]])], r"'x' of graph 0 must be numbers \(got list\)"),
        ([graph(x=torch.ones(3, 2, 2))], r"'x' of graph 0 .* \(got shape \[3, 2, 2\]\)"),
        ([graph(x=torch.eye(3).cfloat())], "'x' of graph 0 must be real numbers"),
        ([graph(x=torch.eye(3, device="meta"))], "'x' of graph 0 holds no numbers"),
        ([graph(num_nodes=5)], r"'x' of graph 0 must have a row for each of its 5 nodes \(got 3\)"),
        ([graph(edge_weight=[1.0])], r"'edge_weight' .* for each of its 3 edges \(got 1\)"),
        ([graph(edge_weight=torch.ones(3)), graph()], "have 'edge_weight' and some do not"),
        ([graph(edge_attr=[1.0])], r"'edge_attr' .* for each of its 3 edges \(got 1\)"),
        (
            [graph(y="mutagen")],
            r"'y' of graph 0 must be numbers \(got 'mutagen'\); number the classes from 0",
        ),
        ([graph(y=np.array(["a"]))], r"'y' of graph 0 must be numbers \(got ndarray\)"),
    ],
)
def test_what_cannot_be_read(dataset: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        graph_list(dataset)


def test_graphs_without_nodes_are_left_out_and_counted() -> None:
    edges = torch.tensor([[0, 1], [1, 0]])
    full = Data(x=torch.ones(2, 1), edge_index=edges)
    empty = Data(x=torch.ones(0, 1), edge_index=edges[:, :0])
    found = graph_list([full, empty, full, empty])
    assert (len(found), found.left_out) == (2, 2)
    assert graph_list([empty])[0].num_nodes == 0, "whoever asks about it is told"


def test_edges_that_no_graph_made_here_has_are_told() -> None:
    plain = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    looped = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1, 1], [1, 0, 1]]))
    assert told_size(graph_list([plain])) == []
    assert told_size(graph_list([plain, looped, looped])) == [
        "2 of 3 graphs that were looked at have edges from a node to itself; graphs that are made "
        "here have none"
    ]
    twice = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1, 0], [1, 0, 1]]))
    (line,) = told_size(graph_list([plain, twice]))
    assert line.startswith("1 of 2 graphs that were looked at have edges that are there twice; ")


def test_missing_edges_and_directions_are_told() -> None:
    ring = [(i, (i + 1) % 10) for i in range(10)]
    forth = torch.tensor(ring).t()
    both = torch.cat([forth, forth.flip(0)], dim=1)
    x = torch.ones(10, 1)
    (line,) = told_size(graph_list([Data(x=x, edge_index=both[:, :-1])]))
    assert line.startswith("directed, though 94.7% of the edges go both ways: if all should, ")
    for edges in (forth, both):
        assert told_size(graph_list([Data(x=x, edge_index=edges)])) == []
    bare = Data(x=x, edge_index=forth[:, :0])
    (line,) = told_size(graph_list([Data(x=x, edge_index=both), bare]))
    assert line.startswith("1 of 2 graphs that were looked at have no edge; graphs that are made ")


def test_edges_of_every_node_to_itself_are_put_aside() -> None:
    def looped(*nodes: int) -> Data:
        loops = torch.tensor([nodes, nodes])
        edges = torch.cat([torch.tensor([[0, 1], [1, 0]]), loops], dim=1)
        return Data(x=torch.ones(2, 1), edge_index=edges)

    given = looped(0, 1)
    found = graph_list([given, looped(1, 0)])
    assert found.looped
    assert [graph.edge_index.tolist() for graph in found] == [[[0, 1], [1, 0]]] * 2
    assert given.num_edges == 4
    assert GraphSpec.from_dataset(found).looped
    mixed = graph_list([looped(0, 1), looped(1)])
    assert not mixed.looped
    assert [graph.num_edges for graph in mixed] == [4, 3]
    assert sorted(mixed[0].keys()) == ["edge_index", "x"]
