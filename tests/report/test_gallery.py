"""Distinct graphs among samples, and thresholds between soft and discrete."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import pytest

from gnninterpreter.explanation import Explanation
from gnninterpreter.report.gallery import (
    DRAWS,
    MODE,
    distinct_samples,
    has_settled,
    mode_graph,
    soft_graph,
    stops,
    thresholded,
)
from gnninterpreter.spec import GraphSpec


def test_samples_are_counted_and_most_frequent_first(
    plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    groups = distinct_samples(explanation_of(plain_spec))
    counts = [group.count for group in groups]
    assert sum(counts) == DRAWS
    assert counts == sorted(counts, reverse=True)
    # Two edges are open, at 0.62 and 0.38: four graphs, and little else.
    assert sum(counts[:4]) > 0.9 * DRAWS


def test_a_settled_distribution_is_one_graph(
    plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    explanation = explanation_of(plain_spec, edges={(0, 1): 30.0, (1, 2): 30.0}, candidates=3)
    groups = distinct_samples(explanation_of(plain_spec, edges={(0, 1): 30.0}, candidates=2))
    assert [(group.count, group.graph.number_of_edges()) for group in groups] == [(DRAWS, 1)]
    assert [stop.threshold for stop in stops(explanation)] == [MODE]


def test_empty_samples_are_left_out(
    plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    assert distinct_samples(explanation_of(plain_spec, edges={(0, 1): -30.0}, candidates=2)) == []


def test_the_mode_keeps_the_numbers_of_its_candidates(
    plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    explanation = explanation_of(plain_spec, edges={(1, 4): 8.0, (4, 5): 8.0})
    assert set(mode_graph(explanation).edges) == {(1, 4), (4, 5)}
    assert nx.is_isomorphic(mode_graph(explanation), explanation.graph)


def test_stops_are_where_the_graph_changes(
    plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    # Four sure edges, one at 0.62, one at 0.38.
    explanation = explanation_of(plain_spec)
    found = [(stop.threshold, stop.edges) for stop in stops(explanation)]
    assert found == [(0.3, 6), (MODE, 5), (0.7, 4)]
    for threshold, edges in found:
        assert int(thresholded(explanation, threshold).num_edges[0]) == edges


def test_the_last_doubts_of_a_settled_distribution_have_stops(
    plain_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    # Sigmoids of 8, -5 and -6: 0.9997, 0.0067 and 0.0025.
    explanation = explanation_of(plain_spec, edges={(0, 1): 8.0, (1, 2): -5.0, (2, 3): -6.0})
    found = [(stop.threshold, stop.edges) for stop in stops(explanation)]
    assert found == [(0.002, 3), (0.005, 2), (MODE, 1)]
    assert not has_settled(explanation)
    assert has_settled(explanation_of(plain_spec, edges={(0, 1): 8.0, (1, 2): -9.0}))


@pytest.mark.parametrize("directed", [False, True])
def test_soft_edges_carry_their_own_probability(
    directed: bool, explanation_of: Callable[..., Explanation]
) -> None:
    spec = GraphSpec(class_names=("a", "b"), directed=directed)
    explanation = explanation_of(spec, edges={(0, 1): 8.0, (1, 2): 0.5, (2, 3): -0.5})
    graph = soft_graph(explanation, 0.05)
    found = {
        edge: round(p, 3) for *edge, p in graph.edges(data="_probability") for edge in [tuple(edge)]
    }
    assert found == {(0, 1): 1.0, (1, 2): 0.622, (2, 3): 0.378}
