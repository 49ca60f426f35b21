"""What the live model adds, checked against asking the model directly."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv

from gnninterpreter.explanation import ExplanationSet
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.report import compute_extras
from gnninterpreter.spec import GraphSpec
from gnninterpreter.testing import TinyClassifier


@pytest.fixture
def model() -> TinyClassifier:
    torch.manual_seed(0)
    return TinyClassifier(GCNConv(1, 4), 4, num_classes=2).eval()


def ring(size: int, label: int) -> Data:
    ends = torch.arange(size)
    there = torch.stack([ends, (ends + 1) % size])
    return Data(
        edge_index=torch.cat([there, there.flip(0)], 1), y=torch.tensor([label]), num_nodes=size
    )


def test_every_stop_and_sample_is_scored_by_the_native_model(
    model: TinyClassifier, plain_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    result = result_of(plain_spec)
    extras = compute_extras(result, model)
    assert set(extras) == {"chain", "ring"}
    extra = extras["ring"]
    best = result["ring"].best
    given = model(Batch.from_data_list([best])).softmax(1)[0, 1].item()
    at_mode = next(stop for stop in extra.stops if stop.threshold == 0.5)
    assert at_mode.said == f"{given:.3f}"
    assert len(extra.sample_outputs) > 1
    assert all(sum(row) == pytest.approx(1) for row in extra.sample_outputs)
    assert extra.neighbours == ()


def test_nearest_graphs_come_from_the_data(
    model: TinyClassifier, plain_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    result = result_of(plain_spec)
    data = [ring(size, size % 2) for size in range(3, 9)]
    classifier = GraphClassifier(model, plain_spec)
    extras = compute_extras(result, classifier, data, neighbours=2)
    near = extras["chain"].neighbours
    assert len(near) == 2
    assert near[0].similarity >= near[1].similarity
    assert {n.label for n in near} <= {f"labelled {name}" for name in plain_spec.class_names}
    assert near[0].graph.num_edges == 2 * near[0].graph.num_nodes


def test_a_class_without_a_graph_gets_what_there_is(
    model: TinyClassifier, plain_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    result = result_of(plain_spec, edges={})
    extra = compute_extras(result, model, [ring(4, 0)])["chain"]
    assert extra.neighbours == ()
