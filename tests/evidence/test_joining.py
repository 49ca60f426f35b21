from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.color_consistency import ColorConsistency
from gnninterpreter.datasets.mutag import MUTAG
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence import class_counts, flip_rate, join, random_baseline
from gnninterpreter.evidence.joining import join_each
from gnninterpreter.models import GraphClassifier, load
from gnninterpreter.spec import GraphSpec
from tests.experiments.metrics.molecules import molecule


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


def test_the_new_edge_has_features_of_the_base():
    base, part = random_baseline(ColorConsistency.spec, 2, 4)
    base.edge_attr = torch.eye(6)[[2]].repeat(base.num_edges, 1)
    joined = join(ColorConsistency.spec, base, part, 0, 0, np.random.default_rng(0))
    assert joined.edge_attr[-1].tolist() == base.edge_attr[0].tolist()


def test_graphs_without_an_edge_stay_side_by_side_where_edges_have_features():
    spec = ColorConsistency.spec
    bare = Data(
        x=torch.eye(spec.node_width)[:1], edge_index=torch.zeros(2, 0).long(),
        edge_attr=torch.zeros(0, spec.edge_width),
    )  # fmt: skip
    joined = join(spec, bare, bare, 0, 0, np.random.default_rng(0))
    assert (joined.num_nodes, joined.num_edges, len(joined.edge_attr)) == (2, 0, 0)


def test_a_directed_edge_goes_from_base_to_part():
    spec = GraphSpec(class_names=("a", "b"), directed=True)
    one = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
    joined = join(spec, one, one, 1, 0)
    assert joined.edge_index.t().tolist() == [[0, 1], [2, 3], [1, 2]]
    assert joined.x.tolist() == [[1.0]] * 4


def test_parts_of_a_size_are_joined_at_the_same_nodes():
    bases = random_baseline(MUTAG.spec, 5, 6)
    one, other = (molecule(atoms, [(0, 1)]) for atoms in ("N O", "C C"))
    first, second = (join_each(MUTAG.spec, bases, part, seed=3) for part in (one, other))
    assert [g.edge_index.tolist() for g in first] == [g.edge_index.tolist() for g in second]
    again = join_each(MUTAG.spec, bases, one, seed=4)
    assert [g.edge_index.tolist() for g in first] != [g.edge_index.tolist() for g in again]


def test_flip_rate_of_a_motif_and_of_nothing_special():
    from gnninterpreter.audit.lookalikes import ColoredGraph
    from gnninterpreter.datasets.motif import MOTIFS

    bundle = load("motif")
    classifier = GraphClassifier(bundle.model, bundle.spec)
    target = bundle.spec.class_index("complete-5")
    graphs = random_baseline(bundle.spec, 40, 30, seed=1, kind="gabriel")
    motif = ColoredGraph.make(range(5), MOTIFS["complete-5"]).to_data(bundle.spec)
    control = random_baseline(bundle.spec, 1, 5, seed=2)[0]
    assert flip_rate(classifier, motif, graphs, target) > 0.9
    assert flip_rate(classifier, control, graphs, target) < 0.1


def test_class_counts_add_up(mutag):
    found = class_counts(mutag, random_baseline(mutag.spec, 30, 8))
    assert found.total == 30
    assert sum(found.mean) == pytest.approx(1.0)
