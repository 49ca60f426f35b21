from __future__ import annotations

import math

import networkx as nx
import pytest
from torch_geometric.data import Data

from gnninterpreter.baselines import XGNN, Random
from gnninterpreter.chem.elements import MUTAG_VALENCIES
from gnninterpreter.datasets.mutag import MUTAG
from gnninterpreter.evidence import random_baseline, random_of_size
from gnninterpreter.experiments.metrics import Reference, measure
from gnninterpreter.models import GraphClassifier, load
from tests.experiments.metrics.molecules import molecule


def real() -> list[Data]:
    ring = molecule("C C C C C C", [(i, (i + 1) % 6) for i in range(6)])
    ring.y = 1
    others = random_baseline(MUTAG.spec, 20, 8)
    for graph in others:
        graph.y = 0
    return [ring, *others]


@pytest.fixture(scope="module")
def reference() -> Reference:
    bundle = load("mutag")
    classifier = GraphClassifier(bundle.model, bundle.spec)
    return Reference(classifier, bundle.statistics, real(), MUTAG_VALENCIES, lambda graph: 1)


def test_random_graphs_of_a_size():
    for nodes, edges in ((2, 1), (5, 4), (6, 9), (4, 99)):
        graph = random_of_size(MUTAG.spec, nodes, edges, seed=3)
        plain = nx.Graph(graph.edge_index.t().tolist())
        assert nx.is_connected(plain)
        assert (len(plain), plain.number_of_edges()) == (nodes, min(edges, nodes * (nodes - 1) / 2))
    one, other = (random_of_size(MUTAG.spec, 6, 9, seed=1) for _ in range(2))
    assert one.edge_index.tolist() == other.edge_index.tolist()


def test_every_method_is_measured_alike(reference):
    bundle = load("mutag")
    found = {
        "random": measure(Random(num_nodes=9).explain(bundle, targets=1)[1], reference, 20),
        "xgnn": measure(
            XGNN(episodes=1, parallel=1, max_steps=10, rollouts=2).explain(bundle, targets=1)[1],
            reference,
            20,
        ),
    }
    for one in found.values():
        assert 0 <= one.probability <= 1
        assert 0 <= one.flips <= 1
        assert 0 <= one.control <= 1
        assert one.oracle == 1.0
        # A ring of six has 6 of 15 pairs.
        assert one.class_density == pytest.approx(0.4)
    mean = float(bundle.statistics.mean_nodes[1])
    assert found["random"].granularity == pytest.approx(1 - 9 / mean)
    assert found["xgnn"].valencies == 1.0
    assert (found["random"].connected, found["xgnn"].connected) == (1.0, 1.0)


def test_a_class_without_real_graphs_has_no_discrepancy(reference):
    bare = Reference(reference.classifier, reference.statistics, real()[:1])
    found = measure(Random(num_nodes=4).explain(load("mutag"), targets=0)[0], bare, 10)
    assert math.isnan(found.degree_mmd)
    assert found.valencies is None
    assert found.oracle is None
