"""Training one of the package's models: the step from a data set to one worth explaining.

`train` is the whole of it: AdamW on stratified parts of the data, the best state on the validation
part kept, stopping when it no longer improves. With a ``checkpoint`` path a killed run goes on
where it was.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gnninterpreter.arguments import device_of, one_of
from gnninterpreter.datasets.splits import Split, stratified_split
from gnninterpreter.errors import DataError, ModelError
from gnninterpreter.models.architectures import build
from gnninterpreter.models.scores import ModelScores, scores_of
from gnninterpreter.models.task import Task
from gnninterpreter.training._progress_file import TrainingState
from gnninterpreter.training.batching import GraphStore, outputs_of

SCHEDULES = ("constant", "cosine", "decay")
# What chooses the best state where nothing else is asked for; errors count the other way round.
FIGURES = {Task.MULTICLASS: "accuracy", Task.MULTILABEL: "ROC-AUC", Task.REGRESSION: "RMSE"}
ERRORS = ("RMSE", "MAE")
SCORED_AT_ONCE = 1024


@dataclass(frozen=True)
class TrainingConfig:
    """How to train.

    Args:
        model: Config of the classifier, as its ``config`` attribute holds it.
        learning_rate: Of AdamW, after the warm-up.
        weight_decay: Of AdamW.
        batch_size: Graphs in a batch.
        max_epochs: Passes over the training part at most.
        patience: Stop after this many epochs without a better state on the validation part.
        schedule: ``"constant"``, ``"cosine"`` (to zero at ``max_epochs``) or ``"decay"`` (by
            ``decay`` an epoch: the paper's "learning rate decay of 0.01").
        decay: Share of the learning rate that schedule ``"decay"`` takes away each epoch.
        warmup: Epochs over which the learning rate rises from zero.
        clip: Largest norm of the gradient.
        label_smoothing: Share of the target spread over all classes; keeps the logits finite.
        keep: ``"best"`` state on the validation part, or the ``"last"`` one, for data too small for
            its validation part to tell states apart (MUTAG's has 19 graphs).
        seed: Of the split, the weights and the order of the batches.
        task: ``"multiclass"``; ``"multilabel"``, where labels that are NaN teach nothing; or
            ``"regression"``, whose outputs are in the unit of the data.
        figure: What chooses the best state: ``"accuracy"``, ``"ROC-AUC"``, ``"RMSE"``, ``"MAE"``;
            that of the task when empty.
    """

    model: Mapping[str, Any]
    learning_rate: float = 0.01
    weight_decay: float = 0.01
    batch_size: int = 256
    max_epochs: int = 200
    patience: int = 50
    schedule: str = "cosine"
    decay: float = 0.01
    warmup: int = 5
    clip: float = 1.0
    label_smoothing: float = 0.0
    keep: str = "best"
    seed: int = 0
    task: str = "multiclass"
    figure: str = ""

    def __post_init__(self) -> None:
        one_of("task", self.task, map(str, FIGURES), ModelError)
        object.__setattr__(self, "figure", self.figure or FIGURES[Task(self.task)])
        one_of("schedule", self.schedule, SCHEDULES, ModelError)
        one_of("keep", self.keep, ("best", "last"), ModelError)
        for name in ("learning_rate", "batch_size", "max_epochs", "patience", "clip"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not value > 0:
                raise ModelError(f"{name} must be positive (got {value!r:.60})")

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0."""
        rate = self.learning_rate * min(1.0, (epoch + 1) / (self.warmup + 1))
        if self.schedule == "cosine":
            rate *= 0.5 * (1 + math.cos(math.pi * epoch / self.max_epochs))
        elif self.schedule == "decay":
            rate *= (1 - self.decay) ** epoch
        return rate

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        return {**asdict(self), "model": dict(self.model)}


@dataclass(frozen=True)
class EpochReport:
    """What a callback is told after each epoch; ``validation`` is the figure that chooses."""

    epoch: int
    max_epochs: int
    loss: float
    validation_loss: float
    validation: float
    best: float
    learning_rate: float
    seconds: float


@dataclass(frozen=True)
class TrainingResult:
    """A trained model, in its best state on the CPU, and how good it is by part of the data.

    ``best_epoch`` counts from 1; ``reason`` is ``"plateau"`` or ``"max_epochs"``; the seconds are
    over all runs where it was resumed.
    """

    model: nn.Module
    scores: Mapping[str, ModelScores]
    split: Split
    epochs: int
    best_epoch: int
    reason: str
    seconds: float
    config: TrainingConfig = field(repr=False)


def train(
    dataset: Any,
    config: TrainingConfig,
    *,
    checkpoint: str | Path | None = None,
    device: str | torch.device = "cpu",
    callback: Callable[[EpochReport], None] | None = None,
    split: Split | None = None,
    variants: Sequence[Any] = (),
) -> TrainingResult:
    """Train a classifier.

    Args:
        dataset: Labeled graphs; their ``edge_attr`` is used where the model's config has
            ``edge_dim``.
        config: How to train.
        checkpoint: File to keep the state in after every epoch. Where it holds the state of a run
            with the same settings and graphs, training goes on from there; one that is damaged, or
            of another run, is replaced, with a note in the log. Removed at the end.
        device: ``"cpu"`` or a CUDA device.
        callback: Called after each epoch.
        split: Parts to use instead of the stratified 80/10/10 split that the seed gives.
        variants: Data sets whose graph i is graph i of ``dataset`` drawn anew. Epochs take the
            training part from each of them in turn, which keeps a classifier from learning the
            training part by heart; validation and test use ``dataset`` alone.

    Returns:
        The model in its best state and its scores.

    Raises:
        DataError: If the data set is too small to be split.
        ModelError: If the loss is not finite.
        SpecError: If the device is not there.
    """
    device = device_of(device)
    generator = torch.Generator().manual_seed(config.seed)
    model = build(config.model, generator).to(device)
    stores = [
        GraphStore(graphs, use_edge_attr="edge_dim" in config.model, device=device)
        for graphs in (dataset, *variants)
    ]
    store = stores[0]
    _check_labels(store.y, config)
    if any(len(other) != len(store) for other in stores):
        raise DataError("every one of variants must have as many graphs as the data set itself")
    split = split or stratified_split(store.y.cpu(), config.seed)
    unit = _fit_outputs(model, store.y[split.train.to(device)], config)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    path = Path(checkpoint) if checkpoint is not None else None
    settings = config.to_json()
    if path is not None:
        settings["data"] = [graphs.fingerprint() for graphs in stores]
        settings["split"] = [part.tolist() for part in (split.train, split.validation)]
    state = TrainingState(model, optimizer, generator, settings)
    if path is not None:
        state.resume(path)

    def epoch(drawn: GraphStore, rate: float) -> float:
        """Pass once over the training part and return the mean loss."""
        for group in optimizer.param_groups:
            group["lr"] = rate
        model.train()
        total = torch.zeros((), device=device)
        for batch in drawn.batches(split.train, config.batch_size, generator):
            optimizer.zero_grad()
            loss = _loss(outputs_of(model, batch), batch.y, config, unit, config.label_smoothing)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), config.clip)
            optimizer.step()
            total += loss.detach() * len(batch.y)
        mean = float(total) / len(split.train)
        if not math.isfinite(mean):
            raise ModelError(
                f"the training loss is {mean}; lower learning_rate (now {config.learning_rate})"
            )
        return mean

    while state.epoch < config.max_epochs and state.epoch - state.best_epoch < config.patience:
        started = time.perf_counter()
        rate = config.rate(state.epoch)
        # Dropout draws from the global source, which is put back as it was.
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(100_003 * config.seed + state.epoch)
            loss = epoch(stores[state.epoch % len(stores)], rate)
        scores, validation_loss = evaluate(model, store, split.validation, config, unit)
        figure = scores.figures[config.figure] * (-1 if config.figure in ERRORS else 1)
        state.record(figure, validation_loss, time.perf_counter() - started)
        if path is not None:
            state.save(path)
        if callback is not None:
            callback(
                EpochReport(
                    epoch=state.epoch,
                    max_epochs=config.max_epochs,
                    loss=loss,
                    validation_loss=validation_loss,
                    validation=scores.figures[config.figure],
                    best=abs(state.best_figure),
                    learning_rate=rate,
                    seconds=state.seconds,
                )
            )
    if config.keep == "best":
        state.restore_best()
    parts = {"test": split.test, "validation": split.validation, "all": torch.arange(len(store))}
    scored = {name: evaluate(model, store, part, config, unit)[0] for name, part in parts.items()}
    if path is not None:
        path.unlink(missing_ok=True)
    return TrainingResult(
        model=model.cpu().eval(),
        scores=scored,
        split=split,
        epochs=state.epoch,
        best_epoch=state.best_epoch if config.keep == "best" else state.epoch,
        reason="max_epochs" if state.epoch >= config.max_epochs else "plateau",
        seconds=state.seconds,
        config=replace(config, model=dict(config.model)),
    )


@torch.no_grad()
def evaluate(
    model: nn.Module,
    store: GraphStore,
    indices: Tensor,
    config: TrainingConfig,
    unit: Tensor | None = None,
) -> tuple[ModelScores, float]:
    """Scores and mean loss of a model on some graphs; ``unit`` is the spread of values, [C]."""
    model.eval()
    outputs = torch.cat([outputs_of(model, one) for one in store.batches(indices, SCORED_AT_ONCE)])
    labels = store.y[indices.to(store.device)]
    scores = scores_of(outputs.cpu(), labels.cpu(), Task(config.task))
    return scores, float(_loss(outputs, labels, config, unit, smoothing=0.0))


def _loss(
    outputs: Tensor, labels: Tensor, config: TrainingConfig, unit: Tensor | None, smoothing: float
) -> Tensor:
    """Cross-entropy of classes or labels, or squared error in units of the spread of values."""
    if config.task == Task.MULTICLASS:
        return nn.functional.cross_entropy(outputs, labels, label_smoothing=smoothing)
    known = ~labels.isnan()
    if config.task == Task.REGRESSION:
        outputs, labels = (outputs, labels) if unit is None else (outputs / unit, labels / unit)
        return nn.functional.mse_loss(outputs[known], labels[known])
    return nn.functional.binary_cross_entropy_with_logits(outputs[known], labels[known])


def _check_labels(labels: Tensor, config: TrainingConfig) -> None:
    """Compare the labels of the data with what the model says."""
    columns = int(config.model["num_classes"])
    if config.task == Task.MULTICLASS:
        if labels.dim() > 1 or labels.is_floating_point():
            raise DataError(
                f"every graph needs one class as its label y (got {labels.dtype} of shape "
                f"{list(labels.shape)}); say task='multilabel' or 'regression' for others"
            )
        if int(labels.max()) >= columns:
            raise DataError(
                f"the data has a label {int(labels.max())}, but the model only {columns} classes"
            )
        return
    if labels.dim() != 2 or labels.size(1) != columns:
        raise DataError(
            f"every graph needs a row of {Task(config.task).counted(columns)} as its label y, of "
            f"shape [1, {columns}] and of floating-point numbers (got shape {list(labels.shape)})"
        )
    if bool(labels.isnan().all(0).any()):
        raise DataError("a column of the labels is NaN in every graph, so nothing can be learned")


def _fit_outputs(model: nn.Module, labels: Tensor, config: TrainingConfig) -> Tensor | None:
    """Let an untrained regression begin at the mean of the values; return their spread."""
    if config.task != Task.REGRESSION:
        return None
    mean = labels.nanmean(0)
    unit = (labels - mean).square().nanmean(0).sqrt().clamp_min(1e-6)
    with torch.no_grad():
        model.output.weight.mul_(unit.unsqueeze(1))  # type: ignore[operator, union-attr]
        model.output.bias.copy_(mean)  # type: ignore[operator, union-attr]
    return unit
