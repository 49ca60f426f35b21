"""The motifs that are attached: as many as in the paper, and what their nodes see."""

from __future__ import annotations

from gnninterpreter.experiments.paper.work.attaching import PURPLE, motif_sets
from tests.audit.test_lookalikes import colored_degrees, rounds_alike


def test_as_many_motifs_as_in_the_paper() -> None:
    assert {name: len(motifs) for name, motifs in motif_sets().items()} == {
        "complete-4": 8,
        "house-x": 9,
    }


def test_all_but_purple_see_what_they_see_in_house_x() -> None:
    *made, house = motif_sets()["house-x"]
    truth = set(colored_degrees(house))
    for graph in made:
        assert graph.connected()
        assert list(graph.nodes).count(PURPLE) == 1
        assert {row for row in colored_degrees(graph) if row[0] != PURPLE} <= truth
        assert rounds_alike(house, graph) is None
