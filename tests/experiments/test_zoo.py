"""The zoo: data whose labels hold, models that train, jobs on them that work."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from gnninterpreter.experiments.robustness import Run
from gnninterpreter.experiments.robustness.compute import explain_once
from gnninterpreter.experiments.zoo import SPECS, ZOO, models, trained
from gnninterpreter.experiments.zoo.graphs import draw
from gnninterpreter.spec import GraphSpec


@pytest.mark.parametrize("name", SPECS)
def test_graphs_have_the_features_their_spec_names(name: str) -> None:
    graphs = draw(name, 0)[:30]
    spec = SPECS[name]
    assert {int(graph.y) for graph in graphs} == set(range(spec.num_classes))
    for graph in graphs:
        assert graph.x.size(1) == spec.node_width
        assert graph.is_undirected()
        assert (graph.get("edge_attr") is not None) == bool(spec.edges)
    assert GraphSpec.from_dataset(graphs).node_width == spec.node_width


def test_strong_cycles_are_strong_and_weak_ones_weak() -> None:
    for graph in draw("strengths", 1)[:20]:
        drawn = to_networkx(graph, to_undirected=True, edge_attrs=["edge_attr"])
        cycle = nx.cycle_basis(drawn)[0]
        values = [
            drawn.edges[a, b]["edge_attr"][0]
            for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True)
        ]
        assert all(value >= 0.7 for value in values) if graph.y else max(values) <= 0.3


def test_levels_of_the_triangle_have_the_sign_of_the_class() -> None:
    for graph in draw("levels", 1)[:20]:
        drawn = to_networkx(graph, to_undirected=True)
        triangle = nx.cycle_basis(drawn)[0]
        signs = graph.x[triangle, 0] > 0
        assert bool(signs.all()) if graph.y else not bool(signs.any())


def test_there_are_enough_models_and_they_differ() -> None:
    assert len(ZOO) >= 12
    assert len(set(ZOO.values())) == len(ZOO)
    assert {entry.readout for entry in ZOO.values()} == {"sum", "mean", "max"}


def test_a_model_trains_the_same_twice_and_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "zoo-graphconv-mean"
    with monkeypatch.context() as patch:
        patch.setattr(models, "EPOCHS", 2)
        one, two = (trained.__wrapped__(name) for _ in range(2))
    for a, b in zip(one.model.parameters(), two.model.parameters(), strict=True):
        assert torch.equal(a, b)
    assert trained(name).accuracy > 0.95
    run = Run(**explain_once(name, "triangle", 0, restarts=2, recipe="auto")["row"])
    assert run.mean > 0.9
    assert run.nodes <= run.max_nodes
    assert run.oracle is None


def test_a_model_that_learns_nothing_is_trained_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, begun = models._train, []

    def unlucky(model: torch.nn.Module, graphs: list[Data]) -> None:
        begun.append(next(model.parameters()).detach().clone())
        if len(begun) == 3:
            plain(model, graphs)

    monkeypatch.setattr(models, "EPOCHS", 15)
    monkeypatch.setattr(models, "_train", unlucky)
    assert trained.__wrapped__("zoo-graphconv-mean").accuracy >= models.LEARNED
    assert len(begun) == 3
    assert not torch.equal(begun[0], begun[1])
