"""Places of the nodes: apart from each other, the same every time, tidy where possible."""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np
import pytest

from gnninterpreter.report.layout import fit, layout

FAMILIES = {
    "edge": nx.path_graph(2),
    "path": nx.path_graph(9),
    "cycle": nx.cycle_graph(8),
    "star": nx.star_graph(9),
    "wheel": nx.wheel_graph(7),
    "grid": nx.grid_2d_graph(3, 4),
    "tree": nx.balanced_tree(2, 3),
    "lollipop": nx.lollipop_graph(5, 4),
    "complete": nx.complete_graph(6),
    "two hubs": nx.complete_bipartite_graph(2, 5),
    "three hubs": nx.complete_bipartite_graph(3, 5),
    "pieces": nx.disjoint_union(nx.cycle_graph(5), nx.path_graph(4)),
    "loose": nx.empty_graph(3),
}


def places(graph: nx.Graph, **options: object) -> np.ndarray:
    return np.array(list(layout(graph, **options).values()))  # type: ignore[arg-type]


def crossings(graph: nx.Graph) -> int:
    at = layout(graph)

    def side(p: object, q: object, r: object) -> float:
        (px, py), (qx, qy), (rx, ry) = at[p], at[q], at[r]
        return (qx - px) * (ry - py) - (qy - py) * (rx - px)

    edges = list(graph.edges)
    return sum(
        side(a, b, c) * side(a, b, d) < -1e-9 and side(c, d, a) * side(c, d, b) < -1e-9
        for i, (a, b) in enumerate(edges)
        for c, d in edges[:i]
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_no_two_nodes_lie_on_each_other(name: str) -> None:
    at = places(FAMILIES[name])
    apart = np.linalg.norm(at[:, None] - at[None], axis=-1) + 10 * np.eye(len(at))
    assert apart.min() > 0.45


@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_graph_gives_the_same_picture(name: str) -> None:
    np.testing.assert_array_equal(places(FAMILIES[name]), places(FAMILIES[name].copy()))


@pytest.mark.parametrize("name", ["path", "cycle", "star", "wheel", "grid", "tree", "two hubs"])
def test_planar_families_are_drawn_without_crossings(name: str) -> None:
    assert crossings(FAMILIES[name]) == 0


def test_no_edge_lies_along_a_row_of_nodes() -> None:
    """Two rows of three, each a triangle: as rows, its long edge would pass behind a node."""
    graph = nx.complete_bipartite_graph(3, 3)
    graph.add_edges_from([(0, 1), (1, 2), (0, 2), (3, 6), (4, 6), (5, 6), (6, 7)])
    at = {node: np.array(place) for node, place in layout(graph).items()}
    for u, v in graph.edges:
        along = at[v] - at[u]
        for node in set(graph) - {u, v}:
            share = np.clip((at[node] - at[u]) @ along / (along @ along), 0, 1)
            assert np.linalg.norm(at[u] + share * along - at[node]) > 0.05


def test_a_long_path_lies_along_the_box() -> None:
    width, height = np.ptp(places(FAMILIES["path"]), axis=0)
    assert width > 7.5
    assert height < 0.5


def test_known_places_are_kept_and_new_nodes_come_beside_them() -> None:
    start = layout(nx.cycle_graph(5))
    grown = nx.cycle_graph(5)
    grown.add_edges_from([(2, 9), (20, 21)])
    at = layout(grown, start=start)
    assert {node: at[node] for node in start} == start
    assert 0.5 < np.linalg.norm(np.subtract(at[9], at[2])) < 1.6
    assert at[20][1] > max(y for _, y in start.values()), "a part of its own goes below"


def test_fit_fills_the_box_and_keeps_proportions() -> None:
    at = fit({0: (0.0, 0.0), 1: (4.0, 0.0), 2: (4.0, 1.0)}, 200, 100, 10)
    assert at[0] == (10.0, 27.5)
    assert at[1] == (190.0, 27.5)
    assert at[2] == (190.0, 72.5)
    assert fit({}, 200, 100, 10) == {}


def test_scipy_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert len(layout(nx.wheel_graph(8))) == 8


def test_large_graphs_are_placed_in_reasonable_time() -> None:
    at = places(nx.gnm_random_graph(200, 300, seed=0))
    assert np.isfinite(at).all()
