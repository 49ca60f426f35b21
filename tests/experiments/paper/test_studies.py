from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

from gnninterpreter.datasets.mutag import nitro_groups
from gnninterpreter.datasets.rome import synthetic_graph
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence import class_counts
from gnninterpreter.experiments.paper import Settings
from gnninterpreter.experiments.paper.bundled import classifier
from gnninterpreter.experiments.paper.computations import computation
from gnninterpreter.experiments.paper.studies import ablation, bias, complexity
from gnninterpreter.experiments.paper.study import StudyContext
from gnninterpreter.experiments.paper.work import attaching, explaining
from gnninterpreter.experiments.store import Store
from gnninterpreter.search import Recipe


@pytest.fixture
def context(tmp_path: Path) -> StudyContext:
    return StudyContext(Settings(quick=True), Store(tmp_path))


def test_numbers_of_motifs_are_those_of_the_paper():
    sets = attaching.motif_sets()
    assert {name: len(motifs) for name, motifs in sets.items()} == {"complete-4": 8, "house-x": 9}
    assert [len(motifs[-1].nodes) for motifs in sets.values()] == [4, 5]


def test_every_motif_meets_the_same_base_graphs():
    bases = [synthetic_graph(np.random.default_rng(i)) for i in range(3)]
    sets = attaching.motif_sets()["complete-4"]
    one, other = (attaching.attached(bases, motif, 0) for motif in (sets[0], sets[-1]))
    for base, a, b in zip(bases, one, other, strict=True):
        n = base.num_nodes
        assert torch.equal(a.x[:n], b.x[:n])
        assert (a.num_nodes, b.num_nodes) == (n + 8, n + 4)
        assert a.num_edges == 2 * (len(base.edges) + 12 + 1)
        # The bridge is the last edge; it starts at the same node of the base.
        assert int(a.edge_index[0, -2]) == int(b.edge_index[0, -2]) < n


def test_covers_fool_the_bundled_model():
    bases = [synthetic_graph(np.random.default_rng(i)) for i in range(40)]
    for name, motifs in attaching.motif_sets().items():
        index = classifier("motif").spec.class_index(name)
        for motif in motifs:
            graphs = attaching.attached(bases, motif, 0)
            found = class_counts(classifier("motif"), graphs)
            assert found.counts[index] > 20


@pytest.mark.parametrize("shares", [None, attaching.ATOM_SHARES])
def test_nitro_graphs_differ_in_nothing_but_their_groups(shares):
    for index in range(20):
        graphs = attaching.nitro_graphs(index, 0, shares)
        size = graphs[0].num_nodes - 15
        assert 5 <= size <= 10
        groups = [nitro_groups(graph) for graph in graphs]
        assert [b - a for a, b in itertools.pairwise(groups)] == [1] * 5
        for graph in graphs:
            assert torch.equal(graph.x[:size], graphs[0].x[:size])
            assert torch.equal(graph.edge_index, graphs[0].edge_index)


def test_shares_of_atoms_add_up():
    assert sum(attaching.ATOM_SHARES) == pytest.approx(1.0)


def test_leaving_out_a_term():
    recipe = Recipe.paper("mutag", "mutagen")
    shorter = explaining.without(recipe, ablation.SIMILARITY)
    names = [weighted.term.name for weighted in shorter.terms]
    assert len(names) == len(recipe.terms) - 1
    assert ablation.SIMILARITY not in names
    assert explaining.without(recipe, None) is recipe
    with pytest.raises(SpecError, match="embedding similarity"):
        explaining.without(recipe, "luck")


def test_every_class_is_ablated_in_the_full_version():
    works = ablation.computations(Settings())
    paper = [dict(w.arguments) for w in works if dict(w.arguments)["recipe"] == "paper"]
    # 17 classes, six terms left out in turn and nothing left out.
    assert len({(u["dataset"], u["target"], u["term"]) for u in paper}) == 17 * 7


def test_exponent_of_a_cube():
    found = complexity.fit([(2, 8.0), (4, 64.0), (8, 512.0)])
    assert (found.exponent, found.last) == (pytest.approx(3.0), pytest.approx(3.0))
    assert (found.error, found.r_squared) == (pytest.approx(0.0, abs=1e-9), pytest.approx(1.0))
    # A square on top of a fixed cost of 3.
    beyond = complexity.fit([(n, 3.0 + n**2 / 10) for n in (1, 4, 16, 64)]).beyond
    assert beyond == pytest.approx(2.0, abs=0.1)


def test_standard_error_of_a_slope_by_hand():
    # Logarithms 0, 1, 2 and 0, 2, 1: slope 1/2, residuals -1/2, 1, -1/2, so that their squares
    # sum to 3/2 over one degree of freedom, and the values vary by 2: error sqrt(3/4).
    e = float(np.e)
    found = complexity.fit([(1, 1.0), (e, e**2), (e**2, e)])
    assert found.exponent == pytest.approx(0.5)
    assert found.error == pytest.approx(0.75**0.5)
    assert found.r_squared == pytest.approx(0.25)
    assert found.last == pytest.approx(-1.0)


def test_default_classes_are_named(context):
    outcome = bias.study(context)
    named = outcome.tables[1].frame.set_index("data set")["wins by default"].to_dict()
    assert set(named) == {"mutag", "is_acyclic", "color_consistency"}
    assert set(named.values()) <= {*classifier("mutag").spec.class_names, "neither"} | {
        *classifier("is_acyclic").spec.class_names,
        *classifier("color_consistency").spec.class_names,
    }


def test_the_verdict_on_a_default_class_by_hand():
    row = bias._verdict("mutag", ("mutagen", "nonmutagen"), [[0.1, 0.9], [0.6, 0.4], [0.2, 0.8]])
    assert row.ours is not None
    assert row.ours.mean == pytest.approx(0.7)
    assert row.extra["wins by default"] == "nonmutagen"
    assert row.note == "as in the paper: it wins 2 of 3 sets"
    even = bias._verdict("mutag", ("mutagen", "nonmutagen"), [[0.5, 0.5]])
    assert even.extra["wins by default"] == "neither"


def test_a_record_has_what_studies_need(context):
    found = context.get(
        computation(
            "ours",
            dataset="mutag",
            target="nonmutagen",
            recipe="paper",
            seed=0,
            restarts=2,
            iterations=3,
            term=None,
            measured=False,
        )
    )
    assert len(found["runs"]) == 2
    assert {"best", "modes", "diversity", "feasible", "probability", "seconds"} <= set(found)
    assert all(0 <= run["mean"] <= 1 for run in found["runs"])
    assert all(one["nitro"] is not None for one in found["graphs"])


def test_random_of_a_class_has_its_size(context):
    arguments = {"dataset": "mutag", "target": "mutagen", "seed": 0, "measured": False}
    found = context.get(computation("random", nodes=6, **arguments))
    assert found["nodes"] == 6
    assert found["probability"]["n"] == 1000
    assert found["recipe"] == "random gabriel"
