"""Graphs to hang things on: real ones, fresh ones of a known data set, or random ones."""

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

__all__ = ["attach", "host_graphs"]

FRESH_SEED = 101
RANDOM_NODES = 12


def host_graphs(
    classifier: GraphClassifier, dataset: Any, dataset_name: str | None, count: int, seed: int
) -> tuple[list[Data], str]:
    """Find graphs to hang things on.

    Args:
        classifier: The model; random graphs follow its spec.
        dataset: Real graphs to draw from.
        dataset_name: Without a data set, the one of this package to draw fresh graphs of.
        count: How many.
        seed: Of the draw.

    Returns:
        The graphs, and in words where they come from.
    """
    generator = torch.Generator().manual_seed(seed)
    graphs: list[Data] = []
    source = "random graphs"
    if dataset is not None:
        graphs, source = list(dataset), "graphs of the data set"
    elif dataset_name in NAMES:
        # Without the files of a downloaded data set random graphs have to do.
        with contextlib.suppress(DataError):
            graphs = _fresh(str(dataset_name), 2 * count, FRESH_SEED + seed)
            source = f"fresh graphs of {dataset_name}"
    if not graphs:
        drawn = random_graphs(
            classifier.spec, count, RANDOM_NODES, generator, density=0.2, dtype=classifier.dtype
        )
        graphs = drawn.to_data_list()
    order = torch.randperm(len(graphs), generator=generator)[:count].tolist()
    return [graphs[i].clone() for i in order], source


def attach(host: Data, part: Data, generator: torch.Generator, directed: bool = False) -> Data:
    """Join a graph to another by one edge between random nodes.

    The new edge has the features of a random edge of the host. Labels are left out.
    """
    first, second = int(host.num_nodes or 0), int(part.num_nodes or 0)
    start = int(torch.randint(first, (1,), generator=generator))
    end = first + int(torch.randint(second, (1,), generator=generator))
    bridge = torch.tensor([[start], [end]] if directed else [[start, end], [end, start]])
    joined = Data(
        x=torch.cat([_x(host), _x(part).to(_x(host).dtype)]),
        edge_index=torch.cat([host.edge_index, part.edge_index + first, bridge], dim=1),
        num_nodes=first + second,
    )
    if part.get("edge_attr") is not None and host.get("edge_attr") is not None:
        rows = host.edge_attr
        like = int(torch.randint(rows.size(0), (1,), generator=generator))
        new = rows[like : like + 1].repeat(bridge.size(1), *[1] * (rows.dim() - 1))
        joined.edge_attr = torch.cat([rows, part.edge_attr.to(rows.dtype), new])
        if not rows.is_floating_point() and rows.numel() == rows.size(0):
            joined.edge_type = joined.edge_attr.reshape(-1)
    return joined


def _x(graph: Data) -> torch.Tensor:
    x: torch.Tensor | None = graph.get("x")
    return torch.ones(int(graph.num_nodes or 0), 1) if x is None else x


def _fresh(name: str, count: int, seed: int) -> list[Data]:
    """Draw graphs of a data set of this package that no bundled model was trained on."""
    options: dict[str, Any] = {}
    if issubclass(dataset_class(name), RomeDataset):
        options = {"base": "synthetic", "num_graphs": count}
    elif name != "mutag":
        options = {"num_graphs": count}
    with tempfile.TemporaryDirectory() as folder:
        return list(load(name, folder, seed=seed, **options))
