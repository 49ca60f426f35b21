from __future__ import annotations

import numpy as np
import pytest
import torch

from gnninterpreter.datasets.color_consistency import ColorConsistency
from gnninterpreter.datasets.mutag import MUTAG
from gnninterpreter.errors import SpecError
from gnninterpreter.evaluation import (
    class_counts,
    flip_rate,
    join,
    random_baseline,
)
from gnninterpreter.models import GraphClassifier, load
from tests.evaluation.molecules import molecule


@pytest.fixture(scope="module")
def mutag() -> GraphClassifier:
    bundle = load("mutag")
    return GraphClassifier(bundle.model, bundle.spec)


def test_join_adds_one_edge_in_both_directions():
    joined = join(MUTAG.spec, molecule("C C", [(0, 1)]), molecule("N O", [(0, 1)]), 1, 0)
    assert joined.num_nodes == 4
    assert {tuple(edge) for edge in joined.edge_index.t().tolist()} == {
        (0, 1), (1, 0), (2, 3), (3, 2), (1, 2), (2, 1),
    }  # fmt: skip


def test_join_draws_the_features_of_the_new_edge():
    base, part = random_baseline(ColorConsistency.spec, 2, 4)
    with pytest.raises(SpecError, match="rng"):
        join(ColorConsistency.spec, base, part, 0, 0)
    joined = join(ColorConsistency.spec, base, part, 0, 0, np.random.default_rng(0))
    assert torch.equal(joined.edge_attr[-1], joined.edge_attr[-2])
    assert float(joined.edge_attr[-1].sum()) == 1.0


def test_flip_rate_of_a_motif_and_of_nothing_special():
    from gnninterpreter.datasets.motif import MOTIFS
    from gnninterpreter.evaluation import ColouredGraph

    bundle = load("motif")
    classifier = GraphClassifier(bundle.model, bundle.spec)
    target = bundle.spec.class_index("complete-5")
    graphs = random_baseline(bundle.spec, 40, 30, seed=1, kind="gabriel")
    motif = ColouredGraph.of(range(5), MOTIFS["complete-5"]).to_data(bundle.spec)
    control = random_baseline(bundle.spec, 1, 5, seed=2)[0]
    assert flip_rate(classifier, motif, graphs, target) > 0.9
    assert flip_rate(classifier, control, graphs, target) < 0.1


def test_class_counts_add_up(mutag):
    found = class_counts(mutag, random_baseline(mutag.spec, 30, 8))
    assert found.total == 30
    assert sum(found.mean) == pytest.approx(1.0)
