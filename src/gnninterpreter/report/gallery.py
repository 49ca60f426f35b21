"""Many graphs of one explanation: what samples look like, and what each threshold keeps.

Samples share their candidate nodes, so they are drawn with each node in about the same place: what
differs between two pictures is what differs between two graphs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import networkx as nx
from torch_geometric.data import Data

from gnninterpreter.batches import present_nodes
from gnninterpreter.distribution.pairs import pair_places
from gnninterpreter.explanation import Explanation
from gnninterpreter.explanation.sampler import PopulationSampler
from gnninterpreter.graphs import DenseGraphs, to_networkx
from gnninterpreter.isomorphism import distinct

DRAWS = 200
SHOWN = 8
MODE = 0.5
# Close together at the ends: a distribution that has settled keeps its last doubts there.
FAINT = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
THRESHOLDS = (*FAINT, MODE, *(round(1 - low, 3) for low in reversed(FAINT)))
MOST_EDGES = 120


@dataclass(frozen=True)
class SampleGroup:
    """A graph that came up ``count`` times among the draws, first as number ``index``.

    ``data`` is the same graph where it has a layout of its own, and no nodes shared with others.
    """

    graph: nx.Graph
    index: int
    count: int
    data: Data | None = None


def distinct_samples(explanation: Explanation) -> list[SampleGroup]:
    """Draw `DRAWS` graphs and return the distinct ones, most frequent first, empty ones left out.

    Two graphs are the same if renumbering the nodes of one makes it the other, features kept.
    """
    drawn = explanation.sample_dense(DRAWS)
    listed = drawn.to_data_list()
    alone = isinstance(explanation.sampler, PopulationSampler)
    groups = []
    for first, *others in distinct(listed, explanation.spec):
        if not drawn.empty[first]:
            data = listed[first] if alone else None
            groups.append(SampleGroup(candidate_graph(drawn, first), first, 1 + len(others), data))
    return sorted(groups, key=lambda group: (-group.count, group.index))


def mode_graph(explanation: Explanation) -> nx.Graph:
    """The most probable graph, with its nodes numbered as candidates."""
    return candidate_graph(explanation.best_dense, 0)


def candidate_graph(graphs: DenseGraphs, index: int) -> nx.Graph:
    """One discrete graph of a batch as networkx, with its nodes numbered as candidates."""
    one = graphs[index]
    present = present_nodes(one)[0].nonzero().flatten().tolist()
    compact = to_networkx(one.to_data_list()[0], graphs.spec)
    return nx.relabel_nodes(compact, dict(enumerate(present)), copy=True)


@dataclass(frozen=True)
class Stop:
    """The graph of all edges at least as probable as a threshold: its size, and what is said of it.

    ``said`` is empty where the native model was not asked.
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
