"""Real graphs on candidate nodes: whole ones, their parts, and pieces cut out of them."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.graphs import DenseGraphs, edge_rows, node_rows
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.spec.encoding import decode, dense_width


def to_dense(
    graphs: Sequence[Data], spec: GraphSpec, num_candidates: int | None = None
) -> DenseGraphs:
    """Return PyG graphs as one dense batch; the features of absent nodes are those of the first."""
    sizes = torch.tensor([node_count(graph) for graph in graphs])
    n = max(num_candidates or int(sizes.max()), 2)
    count = len(graphs)
    # All graphs at once: one by one takes longer than what is done with them.
    owner = torch.arange(count).repeat_interleave(sizes)
    place = torch.arange(len(owner)) - (sizes.cumsum(0) - sizes)[owner]
    values = decode(torch.cat([node_rows(graph) for graph in graphs]), spec.nodes, torch.float32)
    nodes = values[sizes.cumsum(0) - sizes].unsqueeze(1).repeat(1, n, 1)
    nodes[owner, place] = values
    ends = torch.cat([graph.edge_index for graph in graphs], dim=1)
    lengths = torch.tensor([graph.edge_index.size(1) for graph in graphs])
    apart = ends[0] != ends[1]
    owner = torch.arange(count).repeat_interleave(lengths)[apart]
    source, target = ends[:, apart]
    weight = torch.zeros(count, n, n)
    weight[owner, target, source] = 1.0
    edges = None
    if spec.edges:
        edges = torch.zeros(count, n, n, dense_width(spec.edges))
        edges[..., :1] = 1.0
        rows = torch.cat([edge_rows(graph) for graph in graphs])
        edges[owner, target, source] = decode(rows[apart], spec.edges, torch.float32)
    if not spec.directed:
        weight = torch.maximum(weight, weight.mT)
    return DenseGraphs(spec, weight, nodes, edges)


def cut_piece(graph: Data, size: int, rng: np.random.Generator) -> Data:
    """Cut a connected piece of at most ``size`` nodes out, breadth first from a random node."""
    total = node_count(graph)
    both = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)
    source, target = both.cpu().numpy()
    source, target = np.divmod(np.unique(source * total + target), total)
    ends = np.searchsorted(source, np.arange(total + 1))
    start = int(rng.integers(total))
    kept, seen = [start], {start}
    for node in kept:
        for other in rng.permutation(target[ends[node] : ends[node + 1]]).tolist():
            if other not in seen and len(kept) < size:
                seen.add(other)
                kept.append(other)
        if len(kept) >= size:
            break
    return cut(graph, sorted(kept))


def parts_of(graph: Data, least: int) -> list[Data]:
    """The connected parts of a graph with at least so many nodes, the largest first."""
    whole: nx.Graph = nx.Graph()
    whole.add_edges_from(graph.edge_index.t().tolist())
    parts = [sorted(part) for part in nx.connected_components(whole) if len(part) >= least]
    return [cut(graph, part) for part in sorted(parts, key=lambda p: -len(p))]


def cut(graph: Data, nodes: Sequence[int]) -> Data:
    """The PyG graph on some nodes, in that order, with every edge between them."""
    place = torch.full((node_count(graph),), -1)
    place[list(nodes)] = torch.arange(len(nodes))
    keep = (place[graph.edge_index] >= 0).all(dim=0)
    part = Data(edge_index=place[graph.edge_index[:, keep]], num_nodes=len(nodes))
    for name in ("x", "pos"):
        if graph.get(name) is not None:
            part[name] = graph[name][list(nodes)]
    for name in ("edge_attr", "edge_type", "edge_weight"):
        if graph.get(name) is not None:
            part[name] = graph[name][keep]
    return part
