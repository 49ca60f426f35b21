"""What a perfect policy could build: all small graphs, and no more than valencies allow."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gnninterpreter.baselines.xgnn.building import Rules
from gnninterpreter.datasets.mutag import ATOMS, MUTAG
from gnninterpreter.experiments.paper.work.reachable import best_reachable
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models import GraphClassifier, load


def test_all_small_graphs_are_reached():
    bundle = load("is_acyclic")
    classifier = GraphClassifier(bundle.model, bundle.spec)
    found = best_reachable(Rules.of(bundle.spec, 5), classifier, 0, width=100)
    # Connected graphs of 2, 3, 4 and 5 nodes: 1 + 2 + 6 + 21.
    assert (found.graphs, found.complete) == (30, True)
    narrow = best_reachable(Rules.of(bundle.spec, 5), classifier, 0, width=2)
    assert not narrow.complete
    assert narrow.graphs < 30
    assert narrow.probability <= found.probability


def test_valencies_bound_what_is_reached():
    class Fluorine:
        spec, dtype = MUTAG.spec, torch.float32

        def probability(self, graphs: DenseGraphs, target: int) -> Tensor:
            present = graphs.weight.sum(2) > 0
            return (graphs.nodes[..., ATOMS.index("F")] * present).sum(1) / 10

    found = best_reachable(Rules.of(MUTAG.spec, 6), Fluorine(), 1, width=400)  # type: ignore[arg-type]
    # Carbon takes four of them, and they take nothing more.
    assert found.probability == pytest.approx(0.4)
    assert found.edges == 4
