"""Graphs of hundreds of nodes, for which pieces of them stand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from torch_geometric.data import Data

from gnninterpreter.evidence.patterns.answers import RealAnswers
from gnninterpreter.evidence.patterns.large import NODES, PIECES, pieces_of
from gnninterpreter.models.task import Task
from gnninterpreter.spec import Derived
from tests.evidence.patterns.pairs import PAIRED_CLASS, PLAIN_CLASS, SPEC, chain, classifier

PLAIN = ["bbr" * 80, "br" * 110, "rbbb" * 60] * 4


@pytest.fixture(scope="module")
def large() -> list[Data]:
    """Half of them have red pairs, which lie so that many pieces have one and others none."""
    paired = [plain[:50] + "rrb" + plain[50:150] + "rrb" + plain[150:] for plain in PLAIN]
    return [chain(colours) for colours in PLAIN + paired]


def test_pieces_are_connected_and_go_by_what_the_model_says_of_them(large: list[Data]) -> None:
    known = classifier()
    pieces = pieces_of(large, known)
    assert len(pieces) == PIECES
    assert max(int(piece.num_nodes or 0) for piece in pieces) == NODES
    assert all(int(piece.num_edges) == 2 * (int(piece.num_nodes or 0) - 1) for piece in pieces)
    assert pieces_of([chain(colours) for colours in PLAIN], known) == []
    assert pieces_of([], known) == []


def test_there_are_none_whose_columns_or_values_would_not_be_theirs(large: list[Data]) -> None:
    """The model is not even asked."""
    derived = replace(SPEC, nodes=(*SPEC.nodes, Derived("degree")))
    for spec, task in ((SPEC, Task.REGRESSION), (derived, Task.MULTICLASS)):
        known: Any = SimpleNamespace(spec=spec, task=task)
        assert pieces_of(large, known) == []


def test_cores_of_large_graphs_come_from_their_pieces(large: list[Data]) -> None:
    answers = RealAnswers(classifier(), large, None)
    assert "24 of 24 real graphs have more than 200 nodes: cores, counts" in answers.notes[0]
    core = answers.about(PAIRED_CLASS).cores[0]
    assert (core.num_nodes, core.graph.x[:, 1].tolist()) == (2, [1.0, 1.0])
    assert core.coverage == 1.0
    assert answers.about(PLAIN_CLASS).left_over
    few = RealAnswers(classifier(), [chain(colours) for colours in PLAIN], None)
    assert few.notes == [
        "12 of 12 real graphs have no node or more than 200 and were not looked at for cores"
    ]
