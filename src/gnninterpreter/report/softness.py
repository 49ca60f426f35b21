"""From soft to discrete: which edges the distribution is sure of, and what each threshold keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import networkx as nx

from gnninterpreter.distribution.pairs import pair_places
from gnninterpreter.explanation import Explanation
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.report.gallery import candidate_graph

MODE = 0.5
# Close together at the ends: a distribution that has settled keeps its last doubts there.
FAINT = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
THRESHOLDS = (*FAINT, MODE, *(round(1 - low, 3) for low in reversed(FAINT)))
MOST_EDGES = 120


@dataclass(frozen=True)
class Stop:
    """The graph of all edges at least as probable as a threshold.

    Args:
        threshold: The threshold.
        nodes: Nodes that it keeps.
        edges: Edges that it keeps.
        said: What the native model says of that graph, where it was asked.
    """

    threshold: float
    nodes: int
    edges: int
    said: str = ""


def thresholded(explanation: Explanation, threshold: float) -> DenseGraphs:
    """The most probable graph if edges had to be this probable to be in it."""
    if explanation.distribution is None:
        return explanation.best_dense
    chosen = explanation.distribution.select([explanation.choice])
    latents = chosen.latents()
    shifted = latents[0] - math.log(threshold / (1 - threshold))
    return chosen.with_latents([shifted, *latents[1:]]).mode()


def stops(explanation: Explanation) -> list[Stop]:
    """The thresholds at which the graph changes, lowest first; the mode's is always among them.

    Stops that keep too many edges to be drawn are left out.
    """
    found: dict[int, Stop] = {}
    for threshold in THRESHOLDS:
        graph = thresholded(explanation, threshold)
        edges = int(graph.num_edges[0])
        # Higher thresholds keep subsets, so equal counts are equal graphs; of those the threshold
        # nearest to the mode's says most.
        if edges not in found or threshold <= MODE:
            found[edges] = Stop(threshold, int(graph.num_nodes[0]), edges)
    kept = [stop for stop in found.values() if stop.edges <= MOST_EDGES or stop.threshold == MODE]
    return sorted(kept, key=lambda stop: stop.threshold)


def has_settled(explanation: Explanation) -> bool:
    """Whether no edge lies between the lowest threshold and the highest."""
    ends = [thresholded(explanation, end) for end in (THRESHOLDS[0], THRESHOLDS[-1])]
    return bool(ends[0].num_edges[0] == ends[1].num_edges[0])


def soft_graph(explanation: Explanation, threshold: float) -> nx.Graph:
    """All edges at least as probable as a threshold, each carrying its ``_probability``."""
    graph = candidate_graph(thresholded(explanation, threshold), 0)
    if explanation.distribution is None:
        nx.set_edge_attributes(graph, 1.0, "_probability")
        return graph
    chosen = explanation.distribution.select([explanation.choice])
    theta = chosen.edge_probability[0]
    place = pair_places(chosen.num_candidates, chosen.spec.directed, theta.device)
    for u, v, attributes in graph.edges(data=True):
        attributes["_probability"] = float(theta[place[v, u]])
    return graph
