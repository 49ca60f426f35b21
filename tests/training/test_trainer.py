"""Training: learns, repeats itself, stops when it should, survives a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from gnninterpreter.datasets.splits import Split
from gnninterpreter.errors import DataError, ModelError, OutputError, SpecError
from gnninterpreter.models.scores import ClassificationScores
from gnninterpreter.training import _progress_file, trainer
from gnninterpreter.training.judging import cross_validate
from gnninterpreter.training.trainer import TrainingConfig, train
from tests.models.toy import MODEL, toy_config, toy_graphs


def weights(result):
    return torch.cat([p.detach().flatten() for p in result.model.parameters()])


def test_it_learns():
    result = train(toy_graphs(), toy_config(max_epochs=12))
    assert result.scores["all"].accuracy == 1.0
    assert result.scores["test"].count == 4
    assert result.scores["test"].f1 == (1.0, 1.0)
    assert not result.model.training


def test_same_seed_same_model_whatever_the_global_seed():
    torch.manual_seed(1)
    first = train(toy_graphs(), toy_config())
    torch.manual_seed(2)
    again = train(toy_graphs(), toy_config())
    other = train(toy_graphs(), toy_config(seed=1))
    assert torch.equal(weights(first), weights(again))
    assert not torch.equal(weights(first), weights(other))


class KilledError(Exception):
    """Stands in for a kill between two epochs."""


def kill_after(epoch):
    def callback(report):
        if report.epoch == epoch:
            raise KilledError

    return callback


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    path = tmp_path / "run" / "state.safetensors"
    whole = train(toy_graphs(), toy_config())
    with pytest.raises(KilledError):
        train(toy_graphs(), toy_config(), checkpoint=path, callback=kill_after(4))
    assert path.is_file()
    epochs = []
    resumed = train(
        toy_graphs(),
        toy_config(),
        checkpoint=path,
        callback=lambda report: epochs.append(report.epoch),
    )
    assert epochs == [5, 6]
    assert torch.equal(weights(resumed), weights(whole))
    assert resumed.scores == whole.scores
    assert resumed.best_epoch == whole.best_epoch
    assert not path.exists()


def test_a_run_killed_for_real_goes_on_and_ends_the_same(tmp_path):
    path = tmp_path / "state.safetensors"
    script = (
        "import os, signal, torch\n"
        "from tests.training.test_trainer import toy_config, toy_graphs, train\n"
        "torch.set_num_threads(1)\n"
        "def callback(report):\n"
        "    if report.epoch == 4:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        f"train(toy_graphs(), toy_config(), checkpoint={str(path)!r}, callback=callback)\n"
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    resumed = train(toy_graphs(), toy_config(), checkpoint=path)
    assert torch.equal(weights(resumed), weights(train(toy_graphs(), toy_config())))


def test_every_damaged_bit_of_a_state_is_noticed(tmp_path, caplog):
    path = tmp_path / "state"
    with pytest.raises(KilledError):
        train(toy_graphs(), toy_config(), checkpoint=path, callback=kill_after(2))
    whole = path.read_bytes()
    generator = torch.Generator().manual_seed(0)
    model = torch.nn.Linear(1, 1)
    state = _progress_file.TrainingState(
        model, torch.optim.AdamW(model.parameters()), generator, {"any": "settings"}
    )
    places = [*range(400), *range(400, 8 * len(whole), 997), 8 * len(whole) - 1]
    for bit in places:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        caplog.clear()
        assert not state.resume(path)
        assert "is damaged; training starts again" in caplog.text
    for length in (0, 1, 31, 32, 33, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert not state.resume(path)
    path.write_bytes(whole)
    caplog.clear()
    assert not state.resume(path)
    assert "is of another run" in caplog.text


@pytest.mark.parametrize(
    "damage", ["truncated", "foreign", "one bit", "other settings", "other graphs"]
)
def test_a_state_that_does_not_fit_is_not_resumed(tmp_path, damage):
    path = tmp_path / "state.safetensors"
    config = toy_config(seed=9 if damage == "other settings" else 0)
    graphs = toy_graphs()[::-1] if damage == "other graphs" else toy_graphs()
    with pytest.raises(KilledError):
        train(graphs, config, checkpoint=path, callback=kill_after(4))
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "foreign":
        path.write_bytes(b"something else")
    elif damage == "one bit":
        stored = bytearray(path.read_bytes())
        stored[-1] ^= 1
        path.write_bytes(stored)
    epochs = []
    train(
        toy_graphs(),
        toy_config(),
        checkpoint=path,
        callback=lambda report: epochs.append(report.epoch),
    )
    assert epochs == [1, 2, 3, 4, 5, 6]


def test_a_state_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="cannot write "):
        train(toy_graphs(), toy_config(), checkpoint=tmp_path / "file" / "state")


def scripted_validation(monkeypatch, accuracies):
    """Let the validation part score as told, epoch by epoch, at a loss of 1."""
    script = iter(accuracies)

    def evaluate(model, store, indices, num_classes, batch_size=1024):
        return ClassificationScores(next(script, 0.0), (0.0, 0.0), len(indices)), 1.0

    monkeypatch.setattr(trainer, "evaluate", evaluate)


def test_it_stops_after_patience_epochs_without_a_better_state(monkeypatch):
    scripted_validation(monkeypatch, [0.5, 0.7, 0.6, 0.7, 0.7, 0.9])
    result = train(toy_graphs(), toy_config(patience=3, max_epochs=50))
    assert (result.epochs, result.best_epoch, result.reason) == (5, 2, "plateau")


def test_it_stops_at_max_epochs(monkeypatch):
    scripted_validation(monkeypatch, [0.1, 0.2, 0.3])
    result = train(toy_graphs(), toy_config(patience=3, max_epochs=3))
    assert (result.epochs, result.best_epoch, result.reason) == (3, 3, "max_epochs")


def test_the_kept_state_is_the_best_or_the_last(monkeypatch):
    one = train(toy_graphs(), toy_config(max_epochs=8, schedule="constant", keep="last"))
    scripted_validation(monkeypatch, [0.2] * 7 + [0.1])
    last = train(toy_graphs(), toy_config(max_epochs=8, schedule="constant", keep="last"))
    assert last.best_epoch == 8
    assert torch.equal(weights(one), weights(last))
    scripted_validation(monkeypatch, [0.9] + [0.1] * 7)
    best = train(toy_graphs(), toy_config(max_epochs=8, schedule="constant"))
    assert best.best_epoch == 1
    assert not torch.equal(weights(best), weights(last))


def test_equal_accuracy_is_decided_by_the_loss():
    model = torch.nn.Linear(1, 1)
    state = _progress_file.TrainingState(
        model, torch.optim.AdamW(model.parameters()), torch.Generator(), {}
    )
    for accuracy, loss in ((0.5, 1.0), (0.5, 0.8), (0.5, 0.9), (0.4, 0.1)):
        state.record(accuracy, loss, 1.0)
    assert (state.best_epoch, state.best_loss, state.seconds) == (2, 0.8, 4.0)


def test_learning_rates_by_hand():
    cosine = toy_config(learning_rate=0.1, max_epochs=10)
    assert [cosine.rate(epoch) for epoch in (0, 5)] == pytest.approx([0.1, 0.05])
    decay = toy_config(learning_rate=0.1, schedule="decay", decay=0.01)
    assert decay.rate(2) == pytest.approx(0.1 * 0.99**2)
    warm = toy_config(learning_rate=0.1, schedule="constant", warmup=3)
    assert [warm.rate(epoch) for epoch in range(5)] == pytest.approx([0.025, 0.05, 0.075, 0.1, 0.1])


def test_variants_take_turns():
    graphs = toy_graphs()
    swapped = [graph.clone() for graph in graphs]
    for graph in swapped:
        graph.y = 1 - graph.y
    losses = []
    train(
        graphs,
        toy_config(max_epochs=12, learning_rate=0.02, schedule="constant"),
        variants=[swapped],
        callback=lambda report: losses.append(report.loss),
    )
    # Each epoch unlearns what the one before taught.
    assert min(losses[1::2]) > max(losses[2::2])
    with pytest.raises(DataError, match="as many graphs as the data set"):
        train(graphs, toy_config(), variants=[swapped[:5]])


def test_own_split():
    split = Split(torch.arange(20), torch.arange(20, 30), torch.arange(30, 40))
    result = train(toy_graphs(), toy_config(max_epochs=1), split=split)
    assert result.split is split
    assert result.scores["test"].count == 10


def test_cross_validation_scores_every_graph_once():
    told = []
    scores = cross_validate(
        toy_graphs(),
        toy_config(max_epochs=12, keep="last"),
        count=4,
        callback=lambda done, count: told.append((done, count)),
    )
    assert scores.count == 40
    assert scores.accuracy >= 0.9
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    with pytest.raises(ModelError, match="count must be at least 3 with keep='best'"):
        cross_validate(toy_graphs(), toy_config(), count=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schedule": "step"}, "schedule must be one of"),
        ({"keep": "first"}, "keep must be one of best, last"),
        ({"learning_rate": 0.0}, r"learning_rate must be positive \(got 0.0\)"),
        ({"patience": -1}, "patience must be positive"),
        ({"clip": "much"}, r"clip must be positive \(got 'much'\)"),
        ({"task": "ranking"}, r"task must be one of .*got 'ranking'"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ModelError, match=message):
        TrainingConfig(model=MODEL, **changes)


def test_a_model_that_cannot_be_built_is_told_before_the_data_is_looked_at():
    for model, message in (({"architecture": "mlp"}, "architecture"), ({}, "architecture")):
        with pytest.raises(ModelError, match=message):
            train([], TrainingConfig(model=model))


def test_labels_beyond_the_models_classes():
    graphs = toy_graphs()
    graphs[0].y = torch.tensor([7])
    with pytest.raises(DataError, match="label 7, but the model only 2 classes"):
        train(graphs, toy_config())


def test_a_loss_that_is_not_finite_is_named():
    graphs = toy_graphs()
    for graph in graphs:
        graph.x = graph.x * float("inf")
    with pytest.raises(ModelError, match="the training loss is nan; lower learning_rate"):
        train(graphs, toy_config())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_cuda_where_there_is_none():
    with pytest.raises(SpecError, match="there is no CUDA here"):
        train(toy_graphs(), toy_config(), device="cuda")


def test_settings_are_json():
    config = toy_config()
    assert TrainingConfig(**config.to_json()) == replace(config, model=dict(MODEL))


def labelled(rows):
    """Stars and paths with rows of labels or values instead of classes."""
    graphs = toy_graphs()
    for graph, row in zip(graphs, rows, strict=True):
        graph.y = torch.tensor([row])
    return graphs


def test_labels_are_learned_where_they_are_known():
    nan = float("nan")
    # Star or not, and bright or not; every third of the second is missing.
    rows = [[1.0 - i % 2, nan if i % 3 == 0 else 1.0 - i % 2] for i in range(40)]
    config = toy_config(max_epochs=12, task="multilabel")
    assert config.figure == "ROC-AUC"
    result = train(labelled(rows), config, split=Split(*torch.arange(40).split([24, 8, 8])))
    scores = result.scores["all"]
    assert scores.mean_roc_auc == 1.0
    assert scores.roc_auc == (1.0, 1.0)
    assert scores.count == 40


def test_values_are_learned_in_their_own_unit():
    # The mean is far from 0 and the spread far from 1: outputs have both from the beginning.
    rows = [[100.0 - 40.0 * (i % 2)] for i in range(40)]
    split = Split(*torch.arange(40).split([24, 8, 8]))
    model = {**MODEL, "num_classes": 1}
    first = train(
        labelled(rows), toy_config(model=model, max_epochs=1, task="regression"), split=split
    )
    assert first.scores["all"].rmse < 30
    config = toy_config(model=model, max_epochs=40, task="regression")
    result = train(labelled(rows), config, split=split)
    assert result.scores["test"].rmse < 4
    assert result.scores["test"].r2 > 0.95
    assert result.scores["test"].figures["RMSE"] == result.scores["test"].rmse


@pytest.mark.parametrize(
    ("rows", "task", "message"),
    [
        ([[0.5]] * 40, "multiclass", "needs one class as its label y"),
        ([[0.5]] * 40, "multilabel", r"row of 2 labels as its label y.*got shape \[40, 1\]"),
        ([[1.0, float("nan")]] * 40, "multilabel", "NaN in every graph"),
    ],
)
def test_labels_that_do_not_fit_the_task(rows, task, message):
    with pytest.raises(DataError, match=message):
        train(labelled(rows), toy_config(task=task))


def test_dropout_repeats_itself_whatever_the_global_seed():
    model = {**MODEL, "architecture": "gine", "edge_dim": 1, "pooling": "mean", "dropout": 0.5}
    graphs = toy_graphs()
    for graph in graphs:
        graph.edge_attr = torch.ones(graph.edge_index.size(1), 1)
    config = toy_config(model=model, max_epochs=2)
    torch.manual_seed(1)
    first = train(graphs, config)
    torch.manual_seed(2)
    assert torch.equal(weights(first), weights(train(graphs, config)))
