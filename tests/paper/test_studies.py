from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

from gnninterpreter.datasets.molecules import nitro_groups
from gnninterpreter.datasets.rome_like import synthetic_graph
from gnninterpreter.errors import SpecError
from gnninterpreter.evaluation import class_counts
from gnninterpreter.optim import Recipe
from gnninterpreter.paper.studies import ablation, bias, complexity, verification
from gnninterpreter.paper.study import Settings, Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(Settings(quick=True), tmp_path)


def test_numbers_of_motifs_are_those_of_the_paper():
    sets = verification.motif_sets()
    assert {name: len(motifs) for name, motifs in sets.items()} == {"complete-4": 8, "house-x": 9}
    assert [motifs[-1].num_nodes for motifs in sets.values()] == [4, 5]


def test_every_motif_meets_the_same_base_graphs(workshop):
    bases = [synthetic_graph(np.random.default_rng(i)) for i in range(3)]
    sets = verification.motif_sets()["complete-4"]
    one, other = (verification.attached(workshop, bases, motif, 0) for motif in (sets[0], sets[-1]))
    for base, a, b in zip(bases, one, other, strict=True):
        n = base.num_nodes
        assert torch.equal(a.x[:n], b.x[:n])
        assert (a.num_nodes, b.num_nodes) == (n + 8, n + 4)
        assert a.num_edges == 2 * (len(base.edges) + 12 + 1)
        # The bridge is the last edge; it starts at the same node of the base.
        assert int(a.edge_index[0, -2]) == int(b.edge_index[0, -2]) < n


def test_covers_fool_the_bundled_model(workshop):
    bases = [synthetic_graph(np.random.default_rng(i)) for i in range(40)]
    for name, motifs in verification.motif_sets().items():
        index = workshop.bundle("motif").spec.class_index(name)
        for motif in motifs:
            graphs = verification.attached(workshop, bases, motif, 0)
            found = class_counts(workshop.classifier("motif"), graphs)
            assert found.counts[index] > 20


@pytest.mark.parametrize("shares", [None, verification.ATOM_SHARES])
def test_nitro_graphs_differ_in_nothing_but_their_groups(shares):
    for index in range(20):
        graphs = verification.nitro_graphs(index, 0, shares)
        size = graphs[0].num_nodes - 15
        assert 5 <= size <= 10
        groups = [nitro_groups(graph) for graph in graphs]
        assert [b - a for a, b in itertools.pairwise(groups)] == [1] * 5
        for graph in graphs:
            assert torch.equal(graph.x[:size], graphs[0].x[:size])
            assert torch.equal(graph.edge_index, graphs[0].edge_index)


def test_shares_of_atoms_add_up():
    assert sum(verification.ATOM_SHARES) == pytest.approx(1.0)


def test_leaving_out_a_term():
    recipe = Recipe.paper("mutag", "mutagen")
    shorter = ablation.without(recipe, ablation.SIMILARITY)
    names = [weighted.term.name for weighted in shorter.terms]
    assert len(names) == len(recipe.terms) - 1
    assert ablation.SIMILARITY not in names
    assert ablation.without(recipe, None) is recipe
    with pytest.raises(SpecError, match="embedding similarity"):
        ablation.without(recipe, "luck")


def test_exponent_of_a_cube():
    assert complexity.exponent([(2, 8.0), (4, 64.0), (8, 512.0)]) == pytest.approx(3.0)


def test_default_classes_are_named(workshop):
    outcome = bias.study(workshop)
    named = {row.key[0]: row.extra["wins by default"] for row in outcome.tables[1].rows}
    assert set(named) == {"mutag", "is_acyclic", "color_consistency"}
    assert named["mutag"] == "nonmutagen"


def test_explanations_are_found_once_and_read_back(workshop, monkeypatch):
    from gnninterpreter.paper import study

    monkeypatch.setattr(study, "CLASSES", {"mutag": ("nonmutagen",)})
    first = workshop.explained("mutag")
    assert workshop.explained("mutag") is first
    again = Workshop(Settings(quick=True), workshop.folder, say=lambda line: pytest.fail(line))
    stored = again.explained("mutag")["nonmutagen"]
    assert torch.equal(stored.best.edge_index, first["nonmutagen"].best.edge_index)
