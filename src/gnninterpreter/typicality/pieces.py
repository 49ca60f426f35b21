"""Real graphs on candidate nodes: whole ones, and connected pieces cut out of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.graphs import DenseGraphs, decode, dense_width
from gnninterpreter.spec import GraphSpec


def to_dense(
    graphs: Sequence[Data],
    spec: GraphSpec,
    num_candidates: int | None = None,
    dtype: torch.dtype = torch.float32,
) -> DenseGraphs:
    """Return PyG graphs as one dense batch; the features of absent nodes are those of the first.

    Args:
        graphs: The graphs, each with a node at least.
        spec: What their features mean.
        num_candidates: Number of candidate nodes; those of the largest graph when omitted.
        dtype: Floating-point type.
    """
    most = max(int(graph.num_nodes or 0) for graph in graphs)
    n = max(num_candidates or most, 2)
    count = len(graphs)
    weight = torch.zeros(count, n, n, dtype=dtype)
    nodes = torch.zeros(count, n, dense_width(spec.nodes), dtype=dtype)
    edges = None
    if spec.edges:
        edges = torch.zeros(count, n, n, dense_width(spec.edges), dtype=dtype)
        edges[..., :1] = 1.0
    for b, graph in enumerate(graphs):
        size = int(graph.num_nodes or 0)
        source, target = graph.edge_index
        apart = source != target
        source, target = source[apart], target[apart]
        x = graph.x if graph.x is not None else torch.ones(size, 1)
        values = decode(x, spec.nodes, dtype)
        nodes[b, :size] = values
        nodes[b, size:] = values[:1]
        weight[b, target, source] = 1.0
        if edges is not None:
            attr = graph.edge_attr if graph.get("edge_attr") is not None else graph.edge_type
            edges[b, target, source] = decode(attr[apart], spec.edges, dtype)
        if not spec.directed:
            weight[b] = torch.maximum(weight[b], weight[b].T)
    return DenseGraphs(spec, weight, nodes, edges)


def joined(parts: Sequence[DenseGraphs]) -> DenseGraphs:
    """One batch out of several on the same candidate nodes."""
    edges = [part.edges for part in parts if part.edges is not None]
    return DenseGraphs(
        parts[0].spec,
        torch.cat([part.weight for part in parts]),
        torch.cat([part.nodes for part in parts]),
        torch.cat(edges) if edges else None,
    )


def cut_piece(graph: Data, size: int, rng: np.random.Generator) -> Data:
    """Cut a connected piece out of a graph, breadth first from a random node.

    Args:
        graph: The graph.
        size: Most nodes of the piece; there are fewer where the part around the node is smaller.
        rng: Source of randomness.
    """
    total = int(graph.num_nodes or 0)
    both = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)
    source, target = np.unique(both.cpu().numpy(), axis=1)
    order = np.argsort(source, kind="stable")
    neighbours = np.split(target[order], np.searchsorted(source[order], np.arange(1, total)))
    start = int(rng.integers(total))
    kept, seen = [start], {start}
    for node in kept:
        for other in rng.permutation(neighbours[node]).tolist():
            if other not in seen and len(kept) < size:
                seen.add(other)
                kept.append(other)
        if len(kept) >= size:
            break
    return _induced(graph, torch.tensor(sorted(kept)))


def _induced(graph: Data, nodes: Tensor) -> Data:
    """The part of a graph between some of its nodes."""
    position = torch.full((int(graph.num_nodes or 0),), -1)
    position[nodes] = torch.arange(nodes.numel())
    ends = position[graph.edge_index]
    inside = (ends >= 0).all(0)
    fields: dict[str, Any] = {"edge_index": ends[:, inside], "num_nodes": int(nodes.numel())}
    if graph.x is not None:
        fields["x"] = graph.x[nodes]
    for key in ("edge_attr", "edge_type"):
        if graph.get(key) is not None:
            fields[key] = graph[key][inside]
    return Data(**fields)
