from __future__ import annotations

import pytest
import torch

from gnninterpreter.baselines import Random
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence import random_baseline
from gnninterpreter.explanation import Explanation
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.models import load
from gnninterpreter.spec import Categorical, GraphSpec
from tests.tiny import trained_shapes


def drawn(model: str, target: str, num_nodes: int | None = None) -> Explanation:
    return Random(num_nodes=num_nodes).explain(load(model), targets=target)[target]


def test_has_the_mean_size_of_the_data_and_knows_nothing():
    found = drawn("shape", "wheel")
    assert {int(graph.num_nodes) for graph in found.sample(5)} == {30}
    assert found.probability.n == 1000
    assert found.probability.mean < 0.1
    assert not found.converged
    assert any("on average" in note for note in found.notes)


def test_data_that_can_be_read_once():
    model, graphs = trained_shapes()
    found = Random(num_nodes=5).explain(model, iter(graphs), targets=0)
    assert found.statistics is not None
    assert int(found.statistics.count.sum()) == len(graphs)


def test_edge_features_survive():
    found = drawn("color_consistency", "inconsistent", 6)
    graph = found.sample(1, seed=4)[0]
    assert graph.edge_attr.shape == (graph.edge_index.size(1), 6)
    assert torch.equal(graph.edge_attr.sum(1), torch.ones(graph.edge_index.size(1)))
    assert found.best.edge_attr.shape[1] == 6


def test_index_coded_features_become_one_hot_and_back():
    spec = GraphSpec(
        nodes=(Categorical(3, encoding="index"), Categorical(2, encoding="index")),
        class_names=("a", "b"),
    )
    graphs = random_baseline(spec, 3, 5)
    dense = dense_graphs(graphs, spec)
    assert dense.nodes.shape == (3, 5, 5)
    for before, after in zip(graphs, dense.to_data_list(), strict=True):
        assert torch.equal(before.x, after.x)


def test_all_classes_get_the_same_graphs():
    result = Random(num_nodes=8).explain(load("mutag"))
    assert list(result) == ["nonmutagen", "mutagen"]
    assert sum(one.probability.mean for one in result.values()) == pytest.approx(1.0)


def test_seconds_are_those_of_the_whole_call(monkeypatch):
    """Drawing and scoring included, which is all that random graphs take."""
    ticks = iter(range(100))
    monkeypatch.setattr("time.perf_counter", lambda: 10.0 * next(ticks))
    found = drawn("mutag", "mutagen", 4)
    # No other clock is read in between, so that beginning and end are one tick apart.
    assert found.seconds == 10.0


def test_a_seed_may_be_negative():
    result = Random(num_nodes=4).explain(load("mutag"), targets=1, seed=-3)
    assert len(result["mutagen"].sample(2, seed=-1)) == 2


def test_bad_settings():
    with pytest.raises(SpecError, match="kind"):
        Random(kind="tree")
    with pytest.raises(SpecError, match="num_nodes"):
        Random(num_nodes=1)
    bundle = load("mutag")
    with pytest.raises(SpecError, match="num_nodes is needed"):
        Random().explain(bundle.model, spec=bundle.spec)
