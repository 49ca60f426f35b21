"""A data set of any size in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.spec import GraphSpec, graph_list, sampling
from gnninterpreter.spec.data import told_size
from gnninterpreter.spec.sampling import Sample


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MOST_KEPT", 60)
    monkeypatch.setattr(sampling, "CHUNK", 20)


def graphs(labels: list[float]) -> Iterator[Data]:
    """Paths of 2 to 4 nodes that know their place."""
    for place, label in enumerate(labels):
        ends = torch.arange(1 + place % 3)
        pairs = torch.stack([ends, ends + 1])
        yield Data(
            x=torch.full((2 + place % 3, 1), float(place)),
            edge_index=torch.cat([pairs, pairs.flip(0)], 1),
            y=torch.tensor([label]),
        )


def places(sample: Sample) -> list[int]:
    return [int(graph.x[0]) for graph in sample.graphs]


def test_what_fits_is_kept_as_it_came() -> None:
    given = list(graphs([0, 1] * 30))
    assert all(a is b for a, b in zip(Sample.of(given).graphs, given, strict=True))


def test_a_rare_class_is_kept_whole_and_others_evenly() -> None:
    labels = [2 if i % 100 == 50 else i % 2 for i in range(1000)]
    sample = Sample.of(graphs(labels))
    kept = places(sample)
    assert sample.read == 1000
    assert kept == sorted(set(kept))
    by_class = {c: [p for p in kept if labels[p] == c] for c in range(3)}
    assert by_class[2] == list(range(50, 1000, 100))
    # 25 each are left for the others, and the least and the largest value beside them.
    for c in (0, 1):
        assert 25 <= len(by_class[c]) <= 27
        assert 350 < sum(by_class[c]) / len(by_class[c]) < 650


def test_totals_are_over_all() -> None:
    sample = Sample.of(graphs([0.0] * 90 + [1.0] * 9))
    assert sorted(sample.totals) == [0, 1]
    # Nodes 2, 3, 4 in turn; edges count twice: 2, 4, 6.
    assert sample.totals[0][:3].tolist() == [90, 270, 360]
    assert sample.totals[1][3] == pytest.approx(3 * (2 / 2 + 4 / 3 + 6 / 4))


def test_labels_that_are_numbers_are_not_classes() -> None:
    sample = Sample.of(graphs([i / 7 for i in range(500)]))
    assert sum(total[0] for total in sample.totals.values()) == 500
    assert 60 <= len(sample.graphs) <= 62
    many = Sample.of(graphs([float(i) for i in range(500)]))
    assert set(many.totals) == {None}
    assert many.totals[None][0] == 500
    assert 60 <= len(many.graphs) <= 62


def test_ranges_of_features_are_those_of_all_graphs() -> None:
    found = GraphSpec.from_dataset(graphs([i % 2 for i in range(400)]))
    assert (found.nodes[0].low, found.nodes[0].high) == ((0.0,), (399.0,))


def test_ranges_of_bytes_are_ranges_too() -> None:
    given = list(graphs([0] * 200))
    for graph in given:
        graph.x = graph.x.byte()
    assert int(max(graph.x.max() for graph in graph_list(given))) == 199


def test_reading_is_told_and_bounded() -> None:
    told: list[int] = []
    most = 0

    def watched() -> Iterator[Data]:
        nonlocal most
        for graph in graphs([0] * 300):
            most = max(most, len(sample._held))
            yield graph

    sample = Sample()
    rest = watched()
    while chunk := [g for _, g in zip(range(20), rest, strict=False)]:
        sample._take(chunk)
    assert most <= 60 + 20
    found = graph_list(graphs([0] * 300), told.append)
    assert told == list(range(40, 301, 20))
    assert told_size(found)[0].startswith(f"read 300 graphs and kept {len(found)}, ")
    assert told_size(graph_list(list(graphs([0] * 10)))) == []
    assert told_size(None) == []


def test_the_same_data_gives_the_same_sample() -> None:
    labels = np.random.default_rng(1).integers(0, 3, 500).tolist()
    assert places(Sample.of(graphs(labels))) == places(Sample.of(graphs(labels)))
