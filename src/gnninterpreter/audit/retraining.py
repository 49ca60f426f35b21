"""Training again with what the audit found: the counter-examples join the training data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data

from gnninterpreter.audit.findings import Audit
from gnninterpreter.datasets import ExplainableDataset
from gnninterpreter.datasets.base import FIELDS
from gnninterpreter.datasets.splits import Split, stratified_split
from gnninterpreter.errors import DataError
from gnninterpreter.models import Bundle
from gnninterpreter.training.judging import training_statistics
from gnninterpreter.training.trainer import EpochReport, TrainingConfig, train


def retrain(
    bundle: Bundle,
    dataset: Any,
    found: Audit,
    *,
    config: TrainingConfig | None = None,
    epochs: int | None = None,
    repeats: int = 1,
    folder: str | Path | None = None,
    callback: Callable[[EpochReport], None] | None = None,
) -> Bundle:
    """Train a bundled classifier again on its data and the graphs that an audit found.

    The counter-examples with their true classes, and the contrasts to them, are added to the
    training part only, ``repeats`` times, so that the scores on the test part stay comparable. It
    is trained as it was unless ``config`` or ``epochs`` say otherwise. Its state is kept in the
    folder after every epoch, so that a run that was killed goes on where it was when it is started
    again.

    Raises:
        DataError: If the audit found no graph whose true class is known.
    """
    wrong = [_plain(graph) for graph in found.counterexamples()]
    extra = [*wrong, *map(_plain, found.contrasts)] * repeats
    if not wrong:
        raise DataError(
            "the audit has no graph that the model gets wrong and whose true class is known, so "
            "there is nothing to learn from; where findings lack true classes, give audit(oracle=)"
        )
    config = config or _settings(bundle)
    if epochs is not None:
        config = replace(config, max_epochs=epochs, patience=max(epochs, 1))
    graphs = [_plain(graph) for graph in dataset]
    labels = torch.cat([graph.y.reshape(1) for graph in graphs])
    own = isinstance(dataset, ExplainableDataset)
    split = dataset.split(seed=config.seed) if own else stratified_split(labels, config.seed)
    added = torch.arange(len(graphs), len(graphs) + len(extra))
    whole = Split(torch.cat([split.train, added]), split.validation, split.test)
    name = f"{bundle.name or bundle.dataset_name}-retrained"
    state = None if folder is None else Path(folder) / f"{name}.training"
    result = train([*graphs, *extra], config, checkpoint=state, split=whole, callback=callback)
    training = {
        **bundle.training,
        "settings": config.to_json(),
        "epochs": result.epochs,
        "seconds": round(result.seconds, 1),
        "counter-examples": repeats * len(wrong),
        "contrasts": repeats * len(found.contrasts),
    }
    scores = {part: result.scores[part] for part in ("test", "validation")}
    return Bundle(
        model=result.model,
        spec=bundle.spec,
        statistics=training_statistics(result.model, graphs, bundle.spec, split),
        scores=scores,
        dataset_name=bundle.dataset_name,
        name=name,
        training=training,
    )


def _settings(bundle: Bundle) -> TrainingConfig:
    """The settings a bundle was trained with, as it keeps them."""
    stored = bundle.training.get("settings")
    if not isinstance(stored, dict):
        raise DataError(
            "the model does not say how it was trained; pass config=TrainingConfig(...)"
        )
    return TrainingConfig(**stored)


def _plain(graph: Data) -> Data:
    """The fields that all graphs have, so that they can be stored together."""
    fields = {key: graph[key] for key in FIELDS[:-1] if key in graph}
    return Data(**fields, y=torch.as_tensor(graph.y).reshape(1).long(), num_nodes=graph.num_nodes)
