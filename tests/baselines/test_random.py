from __future__ import annotations

import pytest
import torch

from gnninterpreter.baselines import Random
from gnninterpreter.errors import SpecError
from gnninterpreter.models import load


def test_has_the_mean_size_of_the_data_and_knows_nothing():
    found = Random().explain(load("shape"), target="wheel")
    assert {int(graph.num_nodes) for graph in found.sample(5)} == {30}
    assert found.probability.n == 1000
    assert found.probability.mean < 0.1
    assert not found.converged
    assert any("on average" in note for note in found.notes)


def test_edge_features_survive():
    found = Random(num_nodes=6).explain(load("color_consistency"), target="inconsistent")
    graph = found.sample(1, seed=4)[0]
    assert graph.edge_attr.shape == (graph.edge_index.size(1), 6)
    assert torch.equal(graph.edge_attr.sum(1), torch.ones(graph.edge_index.size(1)))
    assert found.best.edge_attr.shape[1] == 6


def test_all_classes_get_the_same_graphs():
    bundle = load("mutag")
    one, other = (Random(num_nodes=8).explain(bundle, target=t) for t in (0, 1))
    assert one.probability.mean + other.probability.mean == pytest.approx(1.0)


def test_bad_settings():
    with pytest.raises(SpecError, match="kind"):
        Random(kind="tree")
    with pytest.raises(SpecError, match="num_nodes"):
        Random(num_nodes=1)
    bundle = load("mutag")
    with pytest.raises(SpecError, match="num_nodes is needed"):
        Random().explain(bundle.model, bundle.spec)
