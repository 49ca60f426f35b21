from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gnninterpreter.evidence.patterns import answers
from gnninterpreter.evidence.patterns.answers import RealAnswers
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.target import LabelTarget
from tests.evidence.patterns.pairs import (
    PAIRED,
    PAIRED_CLASS,
    PLAIN,
    PLAIN_CLASS,
    SPEC,
    RedPairs,
    chain,
    classifier,
)


class Labels(RedPairs):
    """Two labels: red neighbours, and any node at all."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        found = super().forward(x, edge_index, batch)[:, 1]
        return torch.stack([found, torch.ones_like(found)], dim=1)


def test_graphs_with_rare_labels_are_among_those_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answers, "MOST_GRAPHS", 20)
    plain = [chain("rb" * (1 + i % 30) + "b" * (i % 7)) for i in range(194)]
    paired = [chain("b" * i + "rr") for i in range(6)]
    model = GraphClassifier(Labels(), SPEC, task="multilabel", examples=paired)
    found = RealAnswers(model, plain + paired, None)
    assert found.real is not None
    assert len(found.real) == 20
    assert len(found.real.of(LabelTarget(0, SPEC.class_names[0]))) == 6
    assert found.lines[-1].endswith("drawn evenly over the labels that the model gives")


def test_what_tells_another_class_tells_this_one_too() -> None:
    """Graphs without a red pair have nothing in common but that."""
    graphs = [chain(c) for c in (PAIRED + PLAIN) * 2]
    found = RealAnswers(classifier(), graphs, None)
    assert found._told_by_others(PLAIN_CLASS) == 1.0
    assert found._told_by_others(PLAIN_CLASS) > found._cores(PLAIN_CLASS).told


def test_a_class_whose_core_changes_nothing_may_be_what_is_left() -> None:
    plain = ["bbrbrbb", "brbrb", "rbrbb", "bbbrbr"] * 6
    paired = ["bbrrb", "rrbbb", "bbbrrbb", "bbrr"] * 6
    found = RealAnswers(classifier(), [chain(c) for c in plain + paired], None)
    told = found.about(PLAIN_CLASS)
    assert told.cores[0].coverage == 1.0
    assert told.cores[0].others == 0
    assert told.left_over
    assert any("goes along with the class" in note for note in told.notes)


class NeedsEdges(RedPairs):
    """Fails without any edge, as sequences of neighbours do."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if not edge_index.numel():
            raise RuntimeError("sequences must be longer than 0")
        return super().forward(x, edge_index, batch)


def test_cores_of_a_model_that_takes_no_graph_without_edges() -> None:
    graphs = [chain(c) for c in PAIRED + PLAIN] * 2
    answers = RealAnswers(GraphClassifier(NeedsEdges(), SPEC, examples=graphs[:4]), graphs, None)
    found = answers.about(PAIRED_CLASS)
    assert found.notes == [] or not found.notes[0].startswith("no core: the model failed")
    assert found.cores[0].graph.x[:, 1].tolist() == [1.0, 1.0]
    assert found.cores[0].coverage == 1.0
