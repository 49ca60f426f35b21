"""Statistics of a data set that is read as it comes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv

from gnninterpreter.models import statistics, streaming
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec
from gnninterpreter.testing import TinyClassifier


def graphs(count: int) -> Iterator[Data]:
    """Rings of four to nine nodes; the larger ones are of the second class."""
    for number in range(count):
        size = 4 + number % 6
        ring = torch.stack([torch.arange(size), (torch.arange(size) + 1) % size])
        yield Data(
            x=torch.ones(size, 1),
            edge_index=torch.cat([ring, ring.flip(0)], 1),
            y=torch.tensor([int(size > 6)]),
        )


def test_means_over_a_stream_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    spec = GraphSpec.from_dataset(list(graphs(12)))
    model = GraphClassifier(TinyClassifier(GraphConv(1, 8), 8, num_classes=2), spec)
    whole = ClassStatistics.from_dataset(model, list(graphs(150)))
    for module in (statistics, streaming):
        monkeypatch.setattr(module, "MOST_KEPT", 40)
    monkeypatch.setattr(streaming, "CHUNK", 16)
    told: list[int] = []
    found = ClassStatistics.from_dataset(model, graphs(150), progress=told.append)
    assert told[-1] == 150
    assert found.count.tolist() == [75.0, 75.0]
    for name in ("mean_nodes", "mean_edges", "edges_per_node", "edges_per_node_std", "accuracy"):
        assert torch.allclose(getattr(found, name), getattr(whole, name), atol=1e-5), name
    assert torch.allclose(found.mean_embedding, whole.mean_embedding, atol=1e-4)


def test_an_even_sample_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = GraphSpec.from_dataset(list(graphs(12)))
    model = GraphClassifier(TinyClassifier(GraphConv(1, 8), 8, num_classes=2), spec)
    monkeypatch.setattr(streaming, "CHUNK", 10)
    kept = list(graphs(30))
    numbered = [*kept, *graphs(270)]
    for place, graph in enumerate(numbered):
        graph.place = place
    streaming.streamed(model, kept, iter(numbered[30:]), statistics._rows)
    places = sorted(int(graph.place) for graph in kept)
    assert len(set(places)) == 30
    assert 90 < sum(places) / 30 < 210
