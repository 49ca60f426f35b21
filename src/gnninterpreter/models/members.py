"""Which graphs each row of class statistics is about: by labels, or by what the model says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.models.task import Task
from gnninterpreter.spec import read_labels

if TYPE_CHECKING:
    from gnninterpreter.models.classifier import GraphClassifier

DECILES = 10


def members_of(
    classifier: GraphClassifier, graphs: Sequence[Data], logits: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Which graphs each row is about, what the model gives them for it, and whether it agrees."""
    columns = logits.size(1)
    if classifier.task is Task.REGRESSION:
        place = logits.argsort(0).argsort(0).double() / len(graphs)
        tenth = (place * DECILES).long().clamp_max(DECILES - 1)
        members = torch.stack([tenth[:, c] == d for c in range(columns) for d in range(DECILES)])
        return members, torch.full(members.shape, torch.nan).double(), torch.ones_like(members)
    said = (logits > 0).t()
    if classifier.task is not Task.MULTILABEL:
        said = torch.arange(columns).unsqueeze(1) == logits.argmax(1)
    given = logits.sigmoid().t() if classifier.task is Task.MULTILABEL else logits.softmax(1).t()
    if unlabelled(graphs):
        return said, given, torch.ones_like(said)
    labels = read_labels(graphs)
    if classifier.task is Task.MULTILABEL:
        if labels is None or labels.width != columns:
            row = f"a row of {columns} labels in 'y', NaN where one was not measured"
            raise _wrong_labels(graphs, columns, row)
        return (labels.values > 0.5).t(), given, said
    if labels is not None and labels.one_hot and labels.width == columns:
        classes = labels.values.argmax(1)
    elif labels is not None and labels.width == 1:
        classes = torch.tensor([_class(value, columns) for value in labels.values[:, 0].tolist()])
    else:
        raise _wrong_labels(graphs, 1, "one class label in 'y'")
    return torch.arange(columns).unsqueeze(1) == classes, given, said


def unlabelled(graphs: Sequence[Data]) -> bool:
    """Whether no graph has a label, so that each counts for what the model gives it."""
    return all(graph.get("y") is None for graph in graphs)


def _wrong_labels(graphs: Sequence[Data], count: int, wanted: str) -> DataError:
    """What is wrong with the first graph that has other labels than wanted."""
    shapes = [getattr(graph.get("y"), "shape", None) for graph in graphs]
    shape = next((one for one in shapes if one is None or one.numel() != count), None)
    got = "none" if shape is None else f"a tensor of shape {list(shape)}"
    return DataError(
        f"every graph of the dataset needs {wanted} (got {got}), or none; leave 'y' out if labels "
        "are not known"
    )


def _class(label: float, num_classes: int) -> int:
    """The number of a class; -1 where it is not known."""
    if math.isnan(label):
        return -1
    if label not in range(num_classes):
        raise DataError(
            f"labels in 'y' must be whole numbers from 0 to {num_classes - 1}, one for each class "
            f"of the model (got {label:g}); renumber them"
        )
    return int(label)
