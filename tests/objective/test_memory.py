"""Graphs are known by keys, and what is known is the same as what would be asked."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.objective import Memory, graph_keys, memory
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Problem, Recipe, problem
from gnninterpreter.spec import Categorical, GraphSpec
from tests.tiny import SPECS, aim, degree_classifier, distribution


def some(name: str, count: int = 30, nodes: int = 6) -> DenseGraphs:
    generator = torch.Generator().manual_seed(3)
    return random_graphs(SPECS[name], count, nodes, generator, dtype=torch.float64, absent=2)


def moved(graphs: DenseGraphs, order: Tensor) -> DenseGraphs:
    edges = None if graphs.edges is None else graphs.edges[:, order][:, :, order]
    weight = graphs.weight[:, order][:, :, order]
    return DenseGraphs(graphs.spec, weight, graphs.nodes[:, order], edges)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("ordered", [True, False])
def test_equal_keys_are_equal_graphs(name: str, ordered: bool) -> None:
    graphs = some(name, 60, 4)
    keys = graph_keys(graphs, ordered).tolist()
    seen: dict[int, DenseGraphs] = {}
    for b, key in enumerate(keys):
        one, other = graphs[b], seen.setdefault(key, graphs[b])
        assert one.num_edges == other.num_edges
        assert torch.allclose(one.weight.sum(1).sort()[0], other.weight.sum(1).sort()[0])


@pytest.mark.parametrize("name", ["rich", "directed"])
def test_the_order_of_nodes_counts_only_if_it_is_to(name: str) -> None:
    graphs = some(name)
    other = moved(graphs, torch.tensor([3, 5, 0, 1, 4, 2]))
    same = graph_keys(graphs, ordered=False) == graph_keys(other, ordered=False)
    # Nodes that are alike are told apart by their order; most graphs have none.
    assert same.double().mean() > 0.6
    apart = graph_keys(graphs, ordered=True) != graph_keys(other, ordered=True)
    assert apart.double().mean() > 0.6


def test_one_choice_of_many_is_told_from_every_other() -> None:
    spec = GraphSpec(nodes=(Categorical(1000),), class_names=("a", "b"))
    nodes = torch.zeros(1001, 2, 1000)
    nodes[:1000, 0] = torch.eye(1000)  # and one of no kind
    weight = torch.ones(1001, 2, 2) - torch.eye(2)
    assert len(graph_keys(DenseGraphs(spec, weight, nodes), True).unique()) == 1001


def test_what_is_absent_has_no_say_and_what_is_present_has() -> None:
    graphs = some("rich", 1)
    absent = graphs.presence[0].argmin()
    for index, changes in ((int(absent), False), (int(graphs.presence[0].argmax()), True)):
        nodes = graphs.nodes.clone()
        nodes[:, index, 2] += 0.25
        other = DenseGraphs(graphs.spec, graphs.weight, nodes, graphs.edges)
        differs = graph_keys(graphs, True) != graph_keys(other, True)
        assert bool(differs) == changes


def test_nothing_is_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    known, asked = Memory(), []

    def ask(places: Tensor) -> tuple[Tensor, ...]:
        asked.append(places.tolist())
        return (10.0 * places, torch.stack([places, places], 1))

    one, two = known.recall("size", torch.tensor([7, 5, 7, 9]), ask)
    assert one.tolist() == [0, 10, 0, 30]
    assert two.tolist() == [[0, 0], [1, 1], [0, 0], [3, 3]]
    assert known.recall("size", torch.tensor([9, 5, 1]), ask)[0].tolist() == [30, 10, 20]
    assert sorted(map(sorted, asked)) == [[0, 1, 3], [2]]
    assert known.recall("other", torch.tensor([9]), ask)[0].tolist() == [0]
    monkeypatch.setattr(memory, "MOST_GRAPHS", 2)
    assert known.recall("size", torch.tensor([9, 5]), ask)[0].tolist() == [0, 10]


@pytest.mark.parametrize("relaxes", [True, False])
def test_what_is_remembered_is_what_is_asked(relaxes: bool) -> None:
    classifier = degree_classifier()
    relaxed = RelaxedModel(classifier) if relaxes else None
    graphs = random_graphs(
        classifier.spec, 40, 5, torch.Generator().manual_seed(0), dtype=classifier.dtype
    )
    twice = DenseGraphs.cat([graphs, graphs[:10]])
    found = []
    for remembers in (None, Memory()):
        task = Problem(classifier, relaxed, Recipe.auto().objective, aim(), memory=remembers)
        found.append([task.evaluate(twice), task.evaluate(twice)])
    for plain, known in zip(*found, strict=True):
        assert torch.allclose(plain.score, known.score, atol=1e-6)
        assert torch.allclose(plain.cost, known.cost, atol=1e-3)
        assert torch.equal(plain.feasible, known.feasible)


def test_a_mean_in_chunks_is_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    classifier = degree_classifier()
    task = Problem(classifier, None, Recipe.auto().objective, aim())
    of = distribution(classifier.spec, 5, restarts=4, dtype=classifier.dtype)
    whole = task.mean_score(of, 20, Streams(1, 4))
    monkeypatch.setattr(problem, "CHUNK", (30, 2**23))
    assert torch.allclose(task.mean_score(of, 20, Streams(1, 4)), whole)
