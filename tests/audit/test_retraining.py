"""Training again on a tiny data set whose rule the first model does not follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest
import torch

from gnninterpreter.audit.findings import Audit, Finding, Kind, Severity
from gnninterpreter.audit.retraining import retrain
from gnninterpreter.errors import DataError
from gnninterpreter.models import Bundle
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.training.trainer import EpochReport, TrainingConfig, train
from tests.audit.conftest import SPEC, plain
from tests.report.conftest import make_result

CONFIG = TrainingConfig(
    model={
        "architecture": "gcn",
        "width": 8,
        "layers": 2,
        "pooling": "mean",
        "in_channels": 1,
        "num_classes": 2,
    },
    batch_size=8,
    max_epochs=3,
    patience=3,
)
GRAPHS = [
    plain(nx.cycle_graph(n) if label else nx.path_graph(n), label)
    for n in range(3, 23)
    for label in (0, 1)
]


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    result = train(GRAPHS, CONFIG)
    return Bundle(
        result.model,
        SPEC,
        ClassStatistics.from_dataset(result.model, GRAPHS, SPEC),
        result.scores,
        "paths",
        training={"settings": CONFIG.to_json()},
    )


def found(graphs: list[object]) -> Audit:
    finding = Finding(Kind.LOOKALIKE, Severity.HIGH, "dense", "t", "s", graphs=tuple(graphs))
    return Audit(make_result(SPEC), (finding,))


def test_counterexamples_join_the_training_part_only(bundle: Bundle) -> None:
    wrong = [plain(nx.star_graph(n), 0) for n in range(3, 8)]
    after = retrain(bundle, GRAPHS, found(wrong), repeats=2)
    assert after.training["counter-examples"] == 10
    assert after.training["contrasts"] == 0
    assert after.scores["test"].count == bundle.scores["test"].count
    assert after.name == "paths-retrained"
    # Over the training part of the data itself: four fifths.
    assert int(after.statistics.count.sum()) == 32


def test_contrasts_join_it_too(bundle: Bundle) -> None:
    wrong = replace(
        found([plain(nx.star_graph(4), 0)]), contrasts=(plain(nx.cycle_graph(4), 1),) * 3
    )
    after = retrain(bundle, GRAPHS, wrong, epochs=1)
    assert (after.training["counter-examples"], after.training["contrasts"]) == (1, 3)


def test_epochs_can_be_chosen(bundle: Bundle) -> None:
    after = retrain(bundle, GRAPHS, found([plain(nx.star_graph(4), 0)]), epochs=1)
    assert after.training["epochs"] == 1
    assert not torch.equal(next(after.model.parameters()), next(bundle.model.parameters()))


def test_nothing_to_learn_from(bundle: Bundle) -> None:
    with pytest.raises(DataError, match="nothing to learn from"):
        retrain(bundle, GRAPHS, found([plain(nx.star_graph(4))]))


def test_unknown_settings(bundle: Bundle) -> None:
    with pytest.raises(DataError, match="pass config="):
        retrain(replace(bundle, training={}), GRAPHS, found([plain(nx.star_graph(4), 0)]))


def test_a_killed_training_goes_on_where_it_was(bundle: Bundle, tmp_path: Path) -> None:
    wrong = found([plain(nx.star_graph(n), 0) for n in range(3, 8)])
    straight = retrain(bundle, GRAPHS, wrong)

    def kill(report: EpochReport) -> None:
        if report.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrain(bundle, GRAPHS, wrong, folder=tmp_path, callback=kill)
    assert len(list(tmp_path.iterdir())) == 1
    epochs: list[int] = []
    again = retrain(
        bundle, GRAPHS, wrong, folder=tmp_path, callback=lambda report: epochs.append(report.epoch)
    )
    assert epochs == [3]
    assert list(tmp_path.iterdir()) == []
    for one, other in zip(straight.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_other_graphs_start_clean(bundle: Bundle, tmp_path: Path) -> None:
    def kill(_: EpochReport) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrain(bundle, GRAPHS, found([plain(nx.star_graph(4), 0)]), folder=tmp_path, callback=kill)
    epochs: list[int] = []
    retrain(
        bundle,
        GRAPHS,
        found([plain(nx.star_graph(5), 0)]),
        folder=tmp_path,
        callback=lambda report: epochs.append(report.epoch),
    )
    assert epochs == [1, 2, 3]
