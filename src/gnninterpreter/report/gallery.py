"""Many graphs of one explanation: what samples look like, and what other restarts found.

Samples share their candidate nodes, so they are drawn with each node in about the same place: what
differs between two pictures is what differs between two graphs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx
import torch

from gnninterpreter.graphs import DenseGraphs, to_networkx

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation

__all__ = ["DRAWS", "SHOWN", "SampleGroup", "candidate_graph", "distinct_samples", "mode_graph"]

DRAWS = 200
SHOWN = 8
ROUNDS = 4


@dataclass(frozen=True)
class SampleGroup:
    """A graph that came up among the samples.

    Args:
        graph: The graph; its nodes are numbered as candidates.
        index: Its first place among the draws.
        count: How many of the draws are the same graph, up to the numbering of nodes.
    """

    graph: nx.Graph
    index: int
    count: int


def distinct_samples(explanation: Explanation) -> list[SampleGroup]:
    """Draw `DRAWS` graphs and return the distinct ones, most frequent first, empty ones left out.

    Two graphs are the same if Weisfeiler-Lehman refinement cannot tell them apart.
    """
    drawn = explanation.sample_dense(DRAWS)
    exact: dict[bytes, list[int]] = {}
    for index in range(len(drawn)):
        exact.setdefault(_signature(drawn, index), []).append(index)
    groups: dict[str, list[int]] = {}
    graphs: dict[str, nx.Graph] = {}
    for members in exact.values():
        graph = candidate_graph(drawn, members[0])
        if graph.number_of_edges():
            key = _fingerprint(graph)
            groups.setdefault(key, []).extend(members)
            graphs.setdefault(key, graph)
    order = sorted(groups, key=lambda key: (-len(groups[key]), groups[key][0]))
    return [SampleGroup(graphs[key], groups[key][0], len(groups[key])) for key in order]


def mode_graph(explanation: Explanation) -> nx.Graph:
    """The most probable graph, with its nodes numbered as candidates."""
    chosen = explanation.distribution.select([explanation.choice])
    return candidate_graph(chosen.mode(), 0)


def candidate_graph(graphs: DenseGraphs, index: int) -> nx.Graph:
    """One discrete graph of a batch as networkx, with its nodes numbered as candidates."""
    edges = graphs.weight[index].gt(0.5)
    present = (edges.any(dim=0) | edges.any(dim=1)).nonzero().flatten().tolist()
    compact = to_networkx(graphs[index].to_data_list()[0], graphs.spec)
    return nx.relabel_nodes(compact, dict(enumerate(present)), copy=True)


def _signature(graphs: DenseGraphs, index: int) -> bytes:
    parts = [graphs.weight[index].gt(0.5)]
    present = parts[0].any(dim=0) | parts[0].any(dim=1)
    parts.append(graphs.nodes[index] * present.unsqueeze(1))
    if graphs.edges is not None:
        parts.append(graphs.edges[index] * parts[0].unsqueeze(2))
    return b"".join(part.to(torch.float32).numpy(force=True).tobytes() for part in parts)


def _fingerprint(graph: nx.Graph) -> str:
    """Colours of the nodes after a few rounds of Weisfeiler-Lehman refinement, digested.

    Isomorphic graphs have the same. Our own rather than that of networkx, whose hashes of directed
    graphs differ between versions.
    """
    colours = {node: _digest(sorted(values.items())) for node, values in graph.nodes(data=True)}
    edges = [(u, v, _digest(sorted(values.items()))) for u, v, values in graph.edges(data=True)]
    ways = ("out", "in") if graph.is_directed() else ("", "")
    for _ in range(ROUNDS):
        seen: dict[object, list[tuple[str, str, str]]] = {node: [] for node in graph}
        for u, v, label in edges:
            seen[u].append((ways[0], label, colours[v]))
            seen[v].append((ways[1], label, colours[u]))
        colours = {node: _digest([colours[node], sorted(seen[node])]) for node in graph}
    return _digest(sorted(colours.values()))


def _digest(value: object) -> str:
    return hashlib.blake2b(repr(value).encode(), digest_size=8).hexdigest()
