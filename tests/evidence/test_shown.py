"""What answers leave out of real graphs, and models that go by it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool, global_mean_pool

from gnninterpreter.evidence.evidence import Evidence
from gnninterpreter.evidence.labels import model_is_right
from gnninterpreter.evidence.reaching import Case
from gnninterpreter.evidence.shown import LONE, LOOPS, TWICE, _plain, _renumbered, left_out
from gnninterpreter.evidence.verdict import verdict_on
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.isomorphism import same_graph
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import Categorical, Continuous, Derived, GraphSpec
from tests.evidence.patterns.pairs import SPEC, chain
from tests.evidence.test_controls import labelled
from tests.explanation.made import explanation


class ByDegree(nn.Module):
    """Says the second class where the mean of the last column is above 2."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(20.0))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        score = self.scale * (global_mean_pool(x[:, -1:], batch) - 2)
        return torch.cat([-score, score], dim=1)


@pytest.mark.parametrize(("odd", "passed"), [(1, True), (10, False)])
def test_a_model_that_goes_by_what_answers_leave_out_is_said_to(odd: int, passed: bool) -> None:
    """A column that follows from the graph, but for some graphs in which it holds a mark."""
    spec = GraphSpec(
        nodes=(Categorical(2), Derived("degree", 1, name="degree")), class_names=("a", "b")
    )
    graphs = []
    for number in range(20):
        one = labelled("bbrbb", int(number < odd))
        degree = one.edge_index[0].bincount(minlength=5).float().unsqueeze(1)
        one.x = torch.cat([one.x, degree + 3.0 * (number < odd)], dim=1)
        graphs.append(one)
    known = GraphClassifier(ByDegree(), spec, examples=graphs)
    made = explanation(dense_graphs([graphs[0]], spec), target=1, probabilities=[0.999])
    found = left_out(Case(replace(made, spec=spec), known, graphs=graphs))
    assert (found is None) is passed
    if found is not None:
        assert (found.passed, found.value, found.grave) == (False, 0.5, True)
        assert "of 50% of the real graphs where they are shown as" in found.sentence
        assert found.sentence.endswith("are, with degree computed from the rest")
        assert verdict_on(Evidence((found,))).word == "goes by what explanations leave out"


class ByFirst(nn.Module):
    """Says the second class where the first node is red, or where any is."""

    def __init__(self, first: bool) -> None:
        super().__init__()
        self.first, self.scale = first, nn.Parameter(torch.tensor(20.0))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        red = x[:, 1:]
        if self.first:
            place = torch.arange(len(batch)) - torch.searchsorted(batch, batch)
            red = red * (place == 0).unsqueeze(1)
        score = self.scale * (global_add_pool(red, batch) - 0.5)
        return torch.cat([-score, score], dim=1)


@pytest.mark.parametrize("first", [True, False])
def test_a_model_that_goes_by_the_order_of_nodes_is_said_to(first: bool) -> None:
    graphs = [chain("rbbbb"), chain("bbbbb")] * 20
    known = GraphClassifier(ByFirst(first), SPEC, examples=graphs)
    made = explanation(dense_graphs([graphs[0]], SPEC), target=1, probabilities=[0.999])
    found = left_out(Case(replace(made, spec=SPEC), known, graphs=graphs))
    assert (found is not None) is first
    if found is not None:
        assert 0.3 < found.value <= 0.5
        assert "once their nodes are numbered anew" in found.sentence
        assert verdict_on(Evidence((found,))).word == "goes by what explanations leave out"


def test_renumbered_graphs_are_the_same() -> None:
    given = chain("rrrbbbbb")
    given.edge_attr = torch.arange(14.0).remainder(7).unsqueeze(1)
    spec = replace(SPEC, edges=(Continuous(1, 0.0, 6.0),))
    made = _renumbered(given, torch.Generator().manual_seed(1))
    assert not torch.equal(made.x, given.x)
    assert same_graph(made, given, spec)
    assert made.edge_index[0].tolist() == sorted(made.edge_index[0].tolist())


def test_graphs_as_answers_have_them() -> None:
    ends = torch.tensor([[0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 1, 2]])
    given = Data(x=torch.eye(4), edge_index=ends, edge_attr=torch.arange(6.0).view(6, 1))
    made, why = _plain(given)
    assert why == [LOOPS, TWICE, LONE]
    assert made.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert made.edge_attr.flatten().tolist() == [0.0, 1.0, 2.0, 3.0]
    assert torch.equal(made.x, torch.eye(4)[:3])
    assert given.num_nodes == 4
    for alone in (chain("brb"), Data(x=torch.eye(2), edge_index=torch.zeros(2, 0).long())):
        assert _plain(alone) == (alone, [])


class Entries(nn.Module):
    """Says the second class of graphs with so many entries of ``edge_index`` for each node."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(20.0))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        here = torch.zeros(len(x)).index_add(0, edge_index[1], torch.ones(edge_index.size(1)))
        score = self.scale * (global_add_pool(here.unsqueeze(1), batch) - 7)
        return torch.cat([-score, score], dim=1)


@pytest.mark.parametrize(("odd", "passed"), [(1, True), (10, False)])
def test_a_model_that_goes_by_repeated_edges_cannot_be_shown(odd: int, passed: bool) -> None:
    graphs = [labelled("bbrb", int(number < odd)) for number in range(20)]
    for graph in graphs[:odd]:
        graph.edge_index = torch.cat([graph.edge_index, graph.edge_index[:, :3]], dim=1)
    known = GraphClassifier(Entries(), SPEC, examples=graphs)
    made = explanation(dense_graphs([graphs[0]], SPEC), target=1, probabilities=[0.999])
    found = model_is_right(Case(replace(made, spec=SPEC), known, graphs=graphs))
    assert found.passed is passed
    if not passed:
        assert found.name == "nothing left out"
        assert found.sentence.endswith("as explanations are, without edges that are there twice")


def test_real_graphs_are_asked_about_once_for_all_targets() -> None:
    """A node without an edge in half of them, so that they are also shown without it."""
    graphs = [labelled("bbr", number % 2) for number in range(20)]
    for graph in graphs[::2]:
        graph.x = torch.cat([graph.x, graph.x[:1]])
        graph.num_nodes = 4

    class Reds(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            asked.append(int(batch.max()) + 1)
            reds = global_add_pool(x[:, :1], batch)
            return torch.cat([reds, -reds], dim=1)

    asked: list[int] = []
    known = GraphClassifier(Reds(), SPEC, examples=graphs)
    made = replace(explanation(dense_graphs([graphs[1]], SPEC), target=0), spec=SPEC)
    told: dict[str, object] = {}
    asked.clear()
    one = model_is_right(Case(made, known, graphs=graphs, told=told))
    assert sum(asked) == 4 * len(graphs)  # as they are, numbered anew, as given and as shown
    other = replace(made, target=replace(made.target, index=1, name="b"))
    two = model_is_right(Case(other, known, graphs=graphs, told=told))
    assert sum(asked) == 4 * len(graphs)
    assert (one.value, two.value) == (0.5, 0.0)  # all are given the first class, half have it
