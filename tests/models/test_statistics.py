from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import global_add_pool

from gnninterpreter.errors import CheckpointError, DataError
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.profile import QUANTILES, Profile
from gnninterpreter.models.statistics import ClassStatistics, _most_nodes
from gnninterpreter.spec import Categorical, Continuous, GraphSpec, sampling


class Sums(nn.Module):
    """The embedding is the sum of the two features, the scores are the same numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Identity()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, data: Batch) -> Tensor:
        return self.head(global_add_pool(data.x * self.scale, data.batch))


def path(rows: list[list[float]], y: object) -> Data:
    """A path of nodes with the given features."""
    n = len(rows)
    there = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
    return Data(x=torch.tensor(rows), edge_index=torch.cat([there, there.flip(0)], 1), y=y)


GRAPHS = [
    path([[1.0, 0.0], [2.0, 0.0]], torch.tensor([0])),
    path([[1.0, 0.0], [0.0, 1.5], [2.0, 0.0], [0.0, 0.5]], torch.tensor([0])),
    path([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]], torch.tensor([1])),
    path([[2.0, 0.0], [0.0, 1.0]], torch.tensor([1])),
]
SPEC = GraphSpec((Continuous(2, 0.0, 2.0),), class_names=("first", "second"))


@pytest.fixture(scope="module")
def statistics() -> ClassStatistics:
    return ClassStatistics.from_dataset(Sums(), GRAPHS, SPEC)


def test_values_by_hand(statistics: ClassStatistics) -> None:
    assert statistics.num_classes == 2
    assert statistics.count.tolist() == [2, 2]
    assert statistics.mean_embedding.tolist() == [[3.0, 1.0], [1.5, 2.0]]
    assert statistics.mean_nodes.tolist() == [3.0, 2.5]
    assert statistics.mean_edges.tolist() == [2.0, 1.5]
    assert statistics.edges_per_node.tolist() == pytest.approx([(1 / 2 + 3 / 4) / 2, 7 / 12])
    assert statistics.edges_per_node_std.tolist() == pytest.approx([1 / 8, 1 / 12])
    assert statistics.accuracy.tolist() == [1.0, 0.5]


def test_similarities_by_hand(statistics: ClassStatistics) -> None:
    mean = torch.tensor([3.0, 1.0])
    alike = [
        float(torch.cosine_similarity(torch.tensor(e), mean, dim=0))
        for e in ([3.0, 0.0], [3.0, 2.0])
    ]
    quantiles = statistics.similarity_quantiles[0]
    assert quantiles.shape == (QUANTILES,)
    assert float(quantiles[0]) == pytest.approx(min(alike))
    assert float(quantiles[-1]) == pytest.approx(max(alike))
    assert (quantiles.diff() >= 0).all()


def test_percentiles(statistics: ClassStatistics) -> None:
    quantiles = statistics.similarity_quantiles[0]
    assert statistics.similarity_percentile(0, -1.0) == 0.0
    assert statistics.similarity_percentile(0, 1.1) == 100.0
    middle = float(quantiles[QUANTILES // 2])
    assert statistics.similarity_percentile(0, middle) == pytest.approx(50.0, abs=1.0)


def test_a_classifier_may_be_given_and_the_spec_left_out(statistics: ClassStatistics) -> None:
    classifier = GraphClassifier(Sums(), SPEC)
    for other in (
        ClassStatistics.from_dataset(classifier, GRAPHS),
        ClassStatistics.from_dataset(Sums(), GRAPHS),
    ):
        for name, tensor in statistics.tensors().items():
            assert torch.equal(tensor, other.tensors()[name]), name


def test_directed_edges_are_counted_one_by_one() -> None:
    spec = GraphSpec(SPEC.nodes, directed=True)
    statistics = ClassStatistics.from_dataset(Sums(), GRAPHS, spec)
    assert statistics.mean_edges.tolist() == [4.0, 3.0]


def test_a_class_without_examples_has_zeros() -> None:
    statistics = ClassStatistics.from_dataset(Sums(), GRAPHS[:2], SPEC)
    assert statistics.count.tolist() == [2, 0]
    for name, tensor in statistics.tensors().items():
        if name != "value_quantiles":
            assert not tensor[1].any(), name
        assert torch.isfinite(tensor).all(), name


@pytest.mark.parametrize("label", [1, 1.0, torch.tensor(1), torch.tensor([[1.0]])], ids=repr)
def test_labels_may_be_written_in_many_ways(label: object) -> None:
    data = [path([[0.0, 1.0], [0.0, 1.0]], label)]
    assert ClassStatistics.from_dataset(Sums(), data, SPEC).count.tolist() == [0, 1]


def test_data_that_can_be_read_once() -> None:
    assert ClassStatistics.from_dataset(Sums(), iter(GRAPHS)) == ClassStatistics.from_dataset(
        Sums(), GRAPHS
    )


def test_tensors_and_back(statistics: ClassStatistics) -> None:
    again = ClassStatistics.from_tensors(statistics.tensors())
    for name, tensor in statistics.tensors().items():
        assert tensor.is_contiguous()
        assert torch.equal(getattr(again, name), tensor)


def test_what_was_counted_over_all_classes_is_stored_once() -> None:
    spec = GraphSpec((Categorical(2),), class_names=("first", "second"))
    rows = [[1.0, 0.0], [0.0, 1.0]]
    data = [path([rows[i % 2] for i in range(4 + n % 5)], torch.tensor([n % 2])) for n in range(60)]
    found = ClassStatistics.from_dataset(Sums(), data, spec)
    stored = found.tensors()
    assert [name for name in stored if "environments" in name] == [
        "typicality.bank.environments.keys",
        "typicality.bank.environments.held",
    ]
    assert int(stored["typicality.bank.environments.held"][0]) == 60
    again = ClassStatistics.from_tensors(stored, spec)
    assert again == found
    assert all(one is not None and one.bank.environments is not None for one in again.typicality)


def test_missing_tensors_are_named(statistics: ClassStatistics) -> None:
    tensors = statistics.tensors()
    del tensors["accuracy"], tensors["count"]
    with pytest.raises(CheckpointError, match="class statistics lack accuracy, count"):
        ClassStatistics.from_tensors(tensors)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "dataset is empty; give the graphs the model was trained on"),
        (
            [path([[1.0, 1.0]] * 2, None), path([[1.0, 1.0]] * 2, 1)],
            r"needs one class label in 'y' \(got none\), or none",
        ),
        (
            [path([[1.0, 1.0]] * 2, torch.zeros(1, 3))],
            r"one class label in 'y' \(got a tensor of shape \[1, 3\]\), or none; leave",
        ),
        (
            [path([[1.0, 1.0]] * 2, torch.tensor([2]))],
            r"whole numbers from 0 to 1, one for each class of the model \(got 2\); renumber",
        ),
        ([path([[1.0, 1.0]] * 2, -1)], r"\(got -1\)"),
        ([path([[1.0, 1.0]] * 2, "mutagen")], r"must be numbers \(got 'mutagen'\)"),
    ],
    ids=["empty", "partly labelled", "several labels", "too large", "negative", "a name"],
)
def test_bad_data(data: list[Data], message: str) -> None:
    with pytest.raises(DataError, match=message):
        ClassStatistics.from_dataset(Sums(), data, SPEC)


def profile_of(quantiles: list[float], nodes: float = 10.0) -> Profile:
    """What is known of graphs whose scores have these quantiles at 0, 50, 90, 99 and 100%."""
    places = np.interp(np.arange(101), [0, 50, 90, 99, 100], quantiles)
    return Profile(100, nodes, nodes, score_quantiles=torch.tensor(places))


def test_a_model_that_is_mostly_sure_is_asked_for_99_and_half_of_the_rest() -> None:
    profile = profile_of([0.2, 0.99, 0.999, 1.0, 1.0])
    assert not profile.rarely_sure
    assert profile.certain == 0.99
    assert profile.enough == pytest.approx(0.995)


def test_a_model_that_gives_all_graphs_one_score_is_certain_of_the_like() -> None:
    # A mean over samples that all have this score came to a little less, in single precision.
    score, mean = 0.8326829671859741, 0.8326827883720398
    assert mean >= profile_of([score] * 5).certain


def test_a_model_that_is_rarely_sure_is_asked_for_no_more_than_it_gives() -> None:
    profile = profile_of([0.2, 0.8, 0.9, 0.92, 0.93])
    assert profile.rarely_sure
    assert profile.certain == pytest.approx(0.9, abs=1e-5)
    assert profile.enough == pytest.approx(0.91, abs=1e-5)
    # Not even its best graphs get 0.99 more than now and then: certain is still not above 0.99.
    assert profile_of([0.2, 0.8, 0.995, 0.999, 1.0]).certain == 0.99


def test_a_class_that_the_model_never_says_is_not_reached_by_less_than_nothing() -> None:
    profile = profile_of([0.0] * 5)
    assert (profile.certain, profile.enough) == (0.05, 0.05)


def test_a_handful_of_odd_graphs_does_not_raise_what_is_asked_for() -> None:
    spec = GraphSpec((Categorical(2),), class_names=("first", "second"))
    plain = path([[1.0, 0.0]] * 2, 0)
    graphs = [plain] * 97 + [path([[1.0, 0.0]] * 5 + [[0.0, 1.0]], 0)] * 3
    # Three of a hundred hold the second kind: all others have a margin of 2.
    found = ClassStatistics.from_dataset(Sums(), graphs, spec).score_quantiles[0]
    assert found.tolist() == pytest.approx([1 / (1 + math.exp(-2))] * QUANTILES)


def test_scores_that_are_not_known_ask_for_the_usual() -> None:
    assert Profile(10, 5.0, 5.0).enough == pytest.approx(0.995)


def test_graphs_may_be_larger_than_the_mean_where_the_certain_ones_are() -> None:
    profile = profile_of([0.2, 0.8, 0.9, 0.92, 0.93])
    small, large = [20] * 30 + [40] * 70, [20] * 20 + [40] * 80
    for every in (small, large):
        assert _most_nodes(profile, [7] * 8 + [20], every) == 10
        assert _most_nodes(profile, [7, 8, *range(12, 30)], every) == 17
        assert _most_nodes(profile, [9, 14], every) == 14
        assert _most_nodes(profile, [], every) == 10
    # Where graphs are compared as wholes none of them would be certain; else pieces are cut.
    assert _most_nodes(profile, [40] * 9, large) == 24
    assert _most_nodes(profile, [40] * 9, small) == 40
    assert _most_nodes(profile, [90] * 9, small) == 48


def test_numbers_and_sizes_are_those_of_all_graphs_that_were_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = [path([[1.0, 1.0]] * (2 + i % 5), int(i % 5 > 2)) for i in range(200)]
    whole = ClassStatistics.from_dataset(Sums(), data, SPEC)
    monkeypatch.setattr(sampling, "MOST_KEPT", 40)
    monkeypatch.setattr(sampling, "CHUNK", 16)
    found = ClassStatistics.from_dataset(Sums(), (graph for graph in data), SPEC)
    assert found.count.tolist() == [120.0, 80.0]
    for name in ("mean_nodes", "mean_edges", "edges_per_node", "edges_per_node_std"):
        assert torch.allclose(getattr(found, name), getattr(whole, name), atol=1e-5), name
