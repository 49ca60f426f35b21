from __future__ import annotations

import networkx as nx
import pytest

from gnninterpreter.datasets.motif import MOTIFS
from gnninterpreter.errors import SpecError
from gnninterpreter.evaluation import ColouredGraph, coloured_degrees, lookalikes, rounds_alike
from gnninterpreter.models import GraphClassifier, load

K4, HOUSE_X = MOTIFS["complete-4"], MOTIFS["house-x"]
PURPLE = 4


@pytest.mark.parametrize(("folds", "count"), [(1, 1), (2, 7), (3, 41)])
def test_numbers_of_covers_of_complete_4(folds, count):
    assert len(lookalikes(K4, folds)) == count


@pytest.mark.parametrize(("rule", "one", "two"), [("cover", 1, 15), ("hub", 1, 8), ("any", 2, 85)])
def test_numbers_of_house_x_by_rule(rule, one, two):
    assert len(lookalikes(HOUSE_X, 1, free=PURPLE, rule=rule)) == one
    assert len(lookalikes(HOUSE_X, 2, free=PURPLE, rule=rule)) == two


def test_with_and_without_a_free_node_covers_are_the_same():
    whole = lookalikes(HOUSE_X, 2)
    free = lookalikes(HOUSE_X, 2, free=PURPLE, rule="cover")
    assert len(whole) == len(free) == 15
    assert all(any(one.isomorphic(other) for other in free) for one in whole)


def test_one_of_the_seven_is_the_cube_and_the_others_keep_four_triangles():
    triangles = sorted(
        sum(nx.triangles(graph.to_networkx()).values()) // 3 for graph in lookalikes(K4, 2)
    )
    assert triangles == [0, 4, 4, 4, 4, 4, 4]
    cube = next(g for g in lookalikes(K4, 2) if not any(nx.triangles(g.to_networkx()).values()))
    assert nx.is_isomorphic(cube.to_networkx(), nx.hypercube_graph(3))


@pytest.mark.parametrize("motif", [K4, HOUSE_X], ids=["complete-4", "house-x"])
def test_covers_agree_with_their_motif_at_every_depth(motif):
    truth = lookalikes(motif, 1)[0]
    for cover in lookalikes(motif, 2):
        assert sorted(set(coloured_degrees(cover))) == sorted(set(coloured_degrees(truth)))
        assert rounds_alike(truth, cover, most=6) == 6


def test_a_hub_is_seen_but_the_bound_nodes_see_what_they_should():
    truth = set(coloured_degrees(lookalikes(HOUSE_X, 1)[0]))
    for graph in lookalikes(HOUSE_X, 2, free=PURPLE, rule="hub"):
        bound = {row for row in coloured_degrees(graph) if row[0] != PURPLE}
        assert bound <= truth
        assert graph.colors.count(PURPLE) == 1
        assert rounds_alike(lookalikes(HOUSE_X, 1)[0], graph) is None


def test_refinement_tells_a_broken_motif_in_one_round():
    whole = lookalikes(K4, 1)[0]
    broken = ColouredGraph.of(range(4), list(K4)[:-1])
    assert rounds_alike(whole, broken) == 0


def test_a_mean_pooling_model_gives_a_cover_the_embedding_of_the_motif():
    bundle = load("motif")
    classifier = GraphClassifier(bundle.model, bundle.spec)
    graphs = [*lookalikes(K4, 1), *lookalikes(K4, 2)]
    embedding = classifier.score_data([g.to_data(bundle.spec) for g in graphs]).embedding
    assert float((embedding - embedding[0]).abs().max()) < 1e-4


def test_bad_arguments():
    with pytest.raises(SpecError, match="rule"):
        lookalikes(K4, 2, rule="twist")
    with pytest.raises(SpecError, match="folds"):
        lookalikes(K4, 0)
    with pytest.raises(SpecError, match="free"):
        lookalikes(K4, 2, rule="hub")


def test_colours_must_fit_the_spec():
    graph = ColouredGraph.of([0, 9], [(0, 1)])
    with pytest.raises(SpecError, match="colour 9"):
        graph.to_data(load("motif").spec)
    with pytest.raises(SpecError, match="one categorical"):
        graph.to_data(load("color_consistency").spec)
