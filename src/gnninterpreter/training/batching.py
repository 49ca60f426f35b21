"""Batches cut straight out of a collated data set, for training on many small graphs.

PyG's loader builds a `Data` for each graph and concatenates them again in Python, which costs more
than the training step itself. `GraphStore` keeps the data set as one set of tensors, on any device,
and makes a batch of any graphs in a handful of tensor operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, InMemoryDataset

from gnninterpreter.datasets import ExplainableDataset
from gnninterpreter.errors import DataError
from gnninterpreter.fingerprints import values_fingerprint


def outputs_of(model: nn.Module, batch: Data) -> Tensor:
    """What one of the package's classifiers says of a batch, [graphs, C]."""
    edges = () if batch.edge_attr is None else (batch.edge_attr,)
    outputs: Tensor = model(batch.x, batch.edge_index, *edges, batch.batch)
    return outputs


class GraphStore:
    """A whole data set, or list of labeled graphs, as one set of tensors on a device."""

    def __init__(
        self, dataset: Any, *, use_edge_attr: bool = True, device: str | torch.device = "cpu"
    ) -> None:
        data, slices = _collated(dataset)
        self.device = torch.device(device)
        self.x = data.x.to(self.device)
        self.edge_index = data.edge_index.to(self.device)
        has_edges = use_edge_attr and "edge_attr" in data
        self.edge_attr = data.edge_attr.to(self.device) if has_edges else None
        single = data.y.dim() < 2 or not data.y.is_floating_point()
        self.y = (data.y.reshape(-1) if single else data.y).to(self.device)
        self._node_ptr = slices["x"].to(self.device)
        self._edge_ptr = slices["edge_index"].to(self.device)

    def __len__(self) -> int:
        return len(self.y)

    def fingerprint(self) -> str:
        """A hash of the graphs."""
        return values_fingerprint({k: v for k, v in vars(self).items() if k != "device"})

    def batch(self, indices: Tensor) -> Data:
        """The graphs of the given indices; ``y`` are classes, [graphs], or labels, [graphs, C]."""
        indices = indices.to(self.device)
        nodes, graph_of_node, first_node = _gather(self._node_ptr, indices)
        edges, graph_of_edge, _ = _gather(self._edge_ptr, indices)
        # Stored edges count nodes from 0 in each graph.
        return Data(
            x=self.x[nodes],
            edge_index=self.edge_index[:, edges] + first_node[graph_of_edge],
            edge_attr=None if self.edge_attr is None else self.edge_attr[edges],
            batch=graph_of_node,
            y=self.y[indices],
        )

    def batches(
        self, indices: Tensor, size: int, generator: torch.Generator | None = None
    ) -> Iterator[Data]:
        """Yield batches that together hold each of the given graphs once."""
        if generator is not None:
            indices = indices[torch.randperm(len(indices), generator=generator)]
        for part in torch.split(indices, size):
            yield self.batch(part)


def _collated(dataset: Any) -> tuple[Data, dict[str, Tensor]]:
    """Return all graphs in one `Data`, and where each of them starts and ends in it."""
    # Taking thousands of graphs apart only to join them again would take seconds.
    if isinstance(dataset, ExplainableDataset) and dataset.is_plain():
        return dataset._data, dataset.slices
    graphs = list(dataset)
    if not graphs:
        raise DataError("the data set is empty; give at least one graph")
    if any(graph.y is None for graph in graphs):
        raise DataError("every graph needs a label y, and at least one has none")
    data, slices = InMemoryDataset.collate(graphs)
    if slices is None:  # PyG leaves a single graph as it is
        slices = {
            "x": torch.tensor([0, data.x.size(0)]),
            "edge_index": torch.tensor([0, data.edge_index.size(1)]),
        }
    return data, slices


def _gather(pointers: Tensor, graphs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the rows of the graphs, the position of each row's graph, and where each starts."""
    counts = pointers[graphs + 1] - pointers[graphs]
    ends = counts.cumsum(0)
    starts = ends - counts
    owner = torch.repeat_interleave(torch.arange(len(graphs), device=graphs.device), counts)
    rows = torch.arange(len(owner), device=graphs.device) + (pointers[graphs] - starts)[owner]
    return rows, owner, starts
