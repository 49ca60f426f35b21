"""Many graphs of one explanation: what samples look like, and what other restarts found.

Samples share their candidate nodes, so they are drawn with each node in about the same place: what
differs between two pictures is what differs between two graphs.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from gnninterpreter.explanation import Explanation
from gnninterpreter.graphs import DenseGraphs, to_networkx
from gnninterpreter.isomorphism import distinct

DRAWS = 200
SHOWN = 8


@dataclass(frozen=True)
class SampleGroup:
    """A graph that came up ``count`` times among the draws, first as number ``index``."""

    graph: nx.Graph
    index: int
    count: int


def distinct_samples(explanation: Explanation) -> list[SampleGroup]:
    """Draw `DRAWS` graphs and return the distinct ones, most frequent first, empty ones left out.

    Two graphs are the same if renumbering the nodes of one makes it the other, features kept.
    """
    drawn = explanation.sample_dense(DRAWS)
    groups = distinct(drawn.to_data_list(), explanation.spec)
    groups.sort(key=lambda members: (-len(members), members[0]))
    return [
        SampleGroup(candidate_graph(drawn, members[0]), members[0], len(members))
        for members in groups
        if not drawn.empty[members[0]]
    ]


def mode_graph(explanation: Explanation) -> nx.Graph:
    """The most probable graph, with its nodes numbered as candidates."""
    return candidate_graph(explanation.best_dense, 0)


def candidate_graph(graphs: DenseGraphs, index: int) -> nx.Graph:
    """One discrete graph of a batch as networkx, with its nodes numbered as candidates."""
    edges = graphs.weight[index].gt(0.5)
    present = (edges.any(dim=0) | edges.any(dim=1)).nonzero().flatten().tolist()
    compact = to_networkx(graphs[index].to_data_list()[0], graphs.spec)
    return nx.relabel_nodes(compact, dict(enumerate(present)), copy=True)
