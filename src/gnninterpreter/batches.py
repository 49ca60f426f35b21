"""Handling batches of discrete graphs: repeating them, making them small."""

from __future__ import annotations

import torch
from torch import Tensor

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Categorical

# Pairs of nodes of large graphs that are measured at once.
MOST_PAIRS = 2**21


def parts_of(graphs: DenseGraphs) -> list[DenseGraphs]:
    """The graphs as they are, or some at a time where they would not stay in a CPU's cache."""
    step = max(1, MOST_PAIRS // graphs.num_candidates**2)
    if len(graphs) <= step or graphs.weight.device.type != "cpu":
        return [graphs]
    return [graphs[start : start + step] for start in range(0, len(graphs), step)]


def present_nodes(graphs: DenseGraphs) -> Tensor:
    """Which nodes an edge touches, [B, N]."""
    edge = graphs.weight.gt(0.5)
    return edge.any(dim=2) | edge.any(dim=1)


def repeat(graphs: DenseGraphs, times: int) -> DenseGraphs:
    """Each graph several times, beside each other."""
    return graphs.each(lambda part: part.repeat_interleave(times, 0))


def compact(graphs: DenseGraphs) -> DenseGraphs:
    """The same discrete graphs on as few candidate nodes as the largest of them needs."""
    present = present_nodes(graphs)
    most = max(int(present.sum(dim=1).max()), 3)
    if most >= graphs.num_candidates:
        return graphs
    return on_nodes(graphs, present.int().argsort(dim=1, descending=True, stable=True)[:, :most])


def on_nodes(graphs: DenseGraphs, order: Tensor) -> DenseGraphs:
    """The same graphs on some of their candidate nodes, in an order of each, [B, n]."""
    rows = torch.arange(len(graphs), device=order.device).unsqueeze(1)
    pick = (rows.unsqueeze(2), order.unsqueeze(2), order.unsqueeze(1))
    edges = None if graphs.edges is None else graphs.edges[pick]
    return DenseGraphs(graphs.spec, graphs.weight[pick], graphs.nodes[rows, order], edges)


def widened(graphs: DenseGraphs, num_candidates: int) -> DenseGraphs:
    """The same graphs on more candidate nodes, the new ones absent."""
    missing = num_candidates - graphs.num_candidates
    if missing <= 0:
        return graphs
    weight = torch.nn.functional.pad(graphs.weight, (0, missing, 0, missing))
    nodes = torch.cat([graphs.nodes, graphs.nodes[:, :1].expand(-1, missing, -1)], dim=1)
    edges = graphs.edges
    if edges is not None:
        # Features of absent edges mean nothing, but they must be valid ones.
        wide = edges[:, :1, 1:2].repeat(1, num_candidates, num_candidates, 1)
        wide[:, : graphs.num_candidates, : graphs.num_candidates] = edges
        edges = wide
    return DenseGraphs(graphs.spec, weight, nodes, edges)


def with_varied_absent_nodes(graphs: DenseGraphs) -> DenseGraphs:
    """Give absent nodes each category in turn, so that an edge to one can bring in any of them."""
    if not any(isinstance(block, Categorical) for block in graphs.spec.nodes):
        return graphs
    present = present_nodes(graphs)
    turn = (~present).cumsum(dim=1)
    nodes, start = graphs.nodes.clone(), 0
    for block in graphs.spec.nodes:
        if isinstance(block, Categorical):
            stop = start + block.size
            varied = torch.nn.functional.one_hot(turn % block.size, block.size).to(nodes.dtype)
            nodes[..., start:stop] = torch.where(
                present.unsqueeze(2), nodes[..., start:stop], varied
            )
            turn = turn // block.size
            start = stop
        else:
            start += block.dim
    return DenseGraphs(graphs.spec, graphs.weight, nodes, graphs.edges)
