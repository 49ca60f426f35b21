"""Places among real graphs: by hand on small sets."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx

from gnninterpreter.errors import DataError
from gnninterpreter.experiments.realism.gins import Judge, places_of, standing
from tests.tiny import PLAIN


def plain(graph: nx.Graph) -> Data:
    data = from_networkx(nx.convert_node_labels_to_integers(graph))
    return Data(x=torch.ones(data.num_nodes, 1), edge_index=data.edge_index)


def test_standing_by_hand() -> None:
    # On a line at 0, 1, 3 and 7 the two nearest are on average 2, 1.5, 2.5 and 5 away.
    real = torch.tensor([[0.0], [1.0], [3.0], [7.0]])
    others = torch.tensor([[1.0], [5.0], [8.5], [20.0]])
    # 1: (0 + 1) / 2; 5: (2 + 2) / 2; 8.5: (1.5 + 5.5) / 2; 20: (13 + 17) / 2.
    assert standing(real, others, nearest=2).tolist() == [1.0, 0.75, 0.25, 0.0]


def test_columns_are_divided_by_their_deviation() -> None:
    real = torch.tensor([[0.0, 0.0], [1.0, 100.0], [2.0, 200.0], [3.0, 300.0]])
    far = torch.tensor([[9.0, 150.0], [1.5, 900.0]])
    # Both are as many deviations away from the line as the other.
    assert standing(real * torch.tensor([1.0, 1.0]), far, nearest=1).tolist() == [0.0, 0.0]
    stretched = standing(real * torch.tensor([1.0, 7.0]), far * torch.tensor([1.0, 7.0]), 1)
    assert torch.equal(stretched, standing(real, far, 1))


def test_a_class_of_one_graph_places_only_that_graph() -> None:
    real = torch.ones(6, 3)
    assert standing(real, torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.1, 1.0]])).tolist() == [1.0, 0.0]


def test_a_cycle_is_at_home_among_cycles_and_a_star_is_not() -> None:
    cycles = [plain(nx.cycle_graph(n)) for n in range(5, 25)]
    stars = [plain(nx.star_graph(n)) for n in (6, 9)]
    assert places_of(cycles, [plain(nx.cycle_graph(12)), *stars], PLAIN)[1:] == [0.0, 0.0]
    assert places_of(cycles, [plain(nx.cycle_graph(12))], PLAIN)[0] > 0.5


def test_large_classes_are_compared_piece_by_piece() -> None:
    judge = Judge([plain(nx.cycle_graph(n)) for n in range(31, 61)], PLAIN)
    assert not judge.whole
    # A piece of a cycle is a path, so that a path is at home and a cycle is not.
    pieces = judge.pieces(6)
    assert len(pieces) == 30
    assert {(p.num_nodes, p.edge_index.size(1)) for p in pieces} == {(6, 10)}
    path, cycle = judge.places([plain(nx.path_graph(6)), plain(nx.cycle_graph(6))])
    assert (path, cycle) == (1.0, 0.0)
    assert judge.places([plain(nx.path_graph(61))]) == [None]
    path, cycle = judge.places_whole([plain(nx.path_graph(6)), plain(nx.cycle_graph(45))])
    assert path == 0.0
    assert cycle > 0.5
    assert Judge([plain(nx.cycle_graph(30))] * 2, PLAIN).whole


def test_too_few_real_graphs_are_refused() -> None:
    with pytest.raises(DataError, match="two real graphs of the class at least \\(got 1\\)"):
        Judge([plain(nx.path_graph(3))], PLAIN)


def test_only_so_many_real_graphs_are_used_spread_evenly() -> None:
    judge = Judge([plain(nx.path_graph(n)) for n in range(2, 12)], PLAIN, most=5)
    assert [graph.num_nodes for graph in judge.real] == [2, 4, 6, 8, 10]
    assert judge.median_nodes == 6.5
