"""Graphs to join things to: real ones, fresh ones of a known data set, or random ones."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

import torch
from torch_geometric.data import Data

from gnninterpreter.datasets import NAMES, dataset_class, load
from gnninterpreter.datasets.rome_base import RomeDataset
from gnninterpreter.errors import DataError
from gnninterpreter.graphs import random_graphs
from gnninterpreter.models.classifier import GraphClassifier

FRESH_SEED = 101
RANDOM_NODES = 12


def host_graphs(
    classifier: GraphClassifier, dataset: Any, dataset_name: str | None, count: int, seed: int
) -> tuple[list[Data], str]:
    """Find graphs to join things to, and say in words where they come from."""
    generator = torch.Generator().manual_seed(seed)
    graphs: list[Data] = []
    source = "random graphs"
    if dataset is not None:
        graphs, source = list(dataset), "graphs of the data set"
    elif dataset_name in NAMES:
        # Without the files of a downloaded data set random graphs have to do.
        with contextlib.suppress(DataError):
            graphs = _fresh(str(dataset_name), count, FRESH_SEED + seed)
            source = f"fresh graphs of {dataset_name}"
    if not graphs:
        drawn = random_graphs(
            classifier.spec, count, RANDOM_NODES, generator, density=0.2, dtype=classifier.dtype
        )
        graphs = drawn[drawn.possible].to_data_list()
    order = torch.randperm(len(graphs), generator=generator)[:count].tolist()
    return [graphs[i].clone() for i in order], source


def _fresh(name: str, count: int, seed: int) -> list[Data]:
    """Draw graphs of a data set of this package that no bundled model was trained on."""
    options: dict[str, Any] = {}
    if issubclass(dataset_class(name), RomeDataset):
        options = {"base": "synthetic", "num_graphs": count}
    elif name != "mutag":
        options = {"num_graphs": count}
    with tempfile.TemporaryDirectory() as folder:
        return list(load(name, folder, seed=seed, **options))
