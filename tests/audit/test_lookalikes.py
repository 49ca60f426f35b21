from __future__ import annotations

from collections import Counter
from itertools import combinations

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GINConv, global_add_pool
from torch_geometric.utils import from_networkx, to_networkx

from gnninterpreter.audit.lookalikes import ColoredGraph, lookalikes, wl_colors
from gnninterpreter.datasets.motif import MOTIFS
from gnninterpreter.errors import SpecError
from gnninterpreter.models import GraphClassifier, load

K4, HOUSE_X = MOTIFS["complete-4"], MOTIFS["house-x"]


def colored_degrees(graph):
    """Color of each node with the sorted colors of its neighbors."""
    return [
        (graph.nodes[node], tuple(sorted(graph.nodes[other] for other, _, _ in others)))
        for node, others in enumerate(graph.surroundings())
    ]


def rounds_alike(one, other, most=5):
    """After how many rounds the two still have every color in the same proportion, or None."""
    alike = None
    for rounds in range(most + 1):
        counts = [Counter(wl_colors(graph, rounds)) for graph in (one, other)]
        shares = [{c: n / count.total() for c, n in count.items()} for count in counts]
        if shares[0] != shares[1]:
            break
        alike = rounds
    return alike


@pytest.mark.parametrize(("folds", "count"), [(1, 1), (2, 7), (3, 41)])
def test_numbers_of_covers_of_complete_4(folds, count):
    assert len(lookalikes(K4, folds)) == count


def test_one_of_the_seven_is_the_cube_and_the_others_keep_four_triangles():
    triangles = sorted(
        sum(nx.triangles(nx.Graph(list(graph.edges))).values()) // 3 for graph in lookalikes(K4, 2)
    )
    assert triangles == [0, 4, 4, 4, 4, 4, 4]
    cube = next(
        g for g in lookalikes(K4, 2) if not any(nx.triangles(nx.Graph(list(g.edges))).values())
    )
    assert nx.is_isomorphic(nx.Graph(list(cube.edges)), nx.hypercube_graph(3))


@pytest.mark.parametrize("motif", [K4, HOUSE_X], ids=["complete-4", "house-x"])
def test_covers_agree_with_their_motif_at_every_depth(motif):
    truth = lookalikes(motif, 1)[0]
    for cover in lookalikes(motif, 2):
        assert sorted(set(colored_degrees(cover))) == sorted(set(colored_degrees(truth)))
        assert rounds_alike(truth, cover, most=6) == 6


def test_refinement_tells_a_broken_motif_in_one_round():
    whole = lookalikes(K4, 1)[0]
    broken = ColoredGraph.make(range(4), list(K4)[:-1])
    assert rounds_alike(whole, broken) == 0


def test_a_mean_pooling_model_gives_a_cover_the_embedding_of_the_motif():
    bundle = load("motif")
    classifier = GraphClassifier(bundle.model, bundle.spec)
    graphs = [*lookalikes(K4, 1), *lookalikes(K4, 2)]
    embedding = classifier.score_data([g.to_data(bundle.spec) for g in graphs]).embedding
    assert float((embedding - embedding[0]).abs().max()) < 1e-4


def test_bad_arguments():
    with pytest.raises(SpecError, match="folds"):
        lookalikes(K4, 0)
    with pytest.raises(SpecError, match="kind"):
        lookalikes(K4, 2, kind="twin")
    with pytest.raises(SpecError, match="depth"):
        lookalikes(K4, kind="switch", depth=0)


def test_colors_must_fit_the_spec():
    graph = ColoredGraph.make([0, 9], [(0, 1)])
    with pytest.raises(SpecError, match="color 9"):
        graph.to_data(load("motif").spec)
    with pytest.raises(SpecError, match="one categorical"):
        graph.to_data(load("color_consistency").spec)


def plain(graph: nx.Graph) -> Data:
    data = from_networkx(graph)
    data.x = torch.ones(data.num_nodes, 1)
    return data


def seen(graph: Data) -> Counter[object]:
    """What nodes see: themselves, and along which edges, in which direction, they see what."""
    rows, kinds = graph.x.tolist(), [()] * graph.num_edges
    if graph.get("edge_attr") is not None:
        kinds = [tuple(row) for row in graph.edge_attr.tolist()]
    around: dict[int, list[object]] = {node: [] for node in range(graph.num_nodes)}
    for (u, v), kind in zip(graph.edge_index.t().tolist(), kinds, strict=True):
        around[u].append(("to", kind, tuple(rows[v])))
        around[v].append(("from", kind, tuple(rows[u])))
    return Counter((tuple(rows[n]), tuple(sorted(map(repr, a)))) for n, a in around.items())


def twice(counted: Counter[object]) -> Counter[object]:
    return Counter({key: 2 * number for key, number in counted.items()})


def test_a_triple_cover_of_a_triangle_is_a_ring_of_nine():
    found = lookalikes(plain(nx.cycle_graph(3)), 3)
    assert len(found) == 1
    assert nx.is_isomorphic(to_networkx(found[0], to_undirected=True), nx.cycle_graph(9))


def test_a_tree_has_no_connected_cover():
    assert lookalikes(plain(nx.star_graph(4))) == []


def test_nothing_to_imitate():
    empty = Data(x=torch.ones(1, 1), edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=1)
    assert lookalikes(empty) == []
    assert lookalikes(empty, kind="switch") == []
    assert lookalikes([]) == []


def test_a_limit_draws_where_there_are_many():
    found = lookalikes(plain(nx.complete_graph(8)), limit=5)
    assert len(found) == 5
    assert all(cover.num_nodes == 16 for cover in found)
    assert lookalikes(plain(nx.complete_graph(40)), limit=5) == []


def test_covers_of_directed_graphs_keep_directions():
    ring = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1, 2], [1, 2, 0]]))
    found = lookalikes(ring, directed=True)
    assert len(found) == 1
    assert nx.is_isomorphic(to_networkx(found[0]), nx.cycle_graph(6, create_using=nx.DiGraph))
    # There and back are two edges, which may be matched differently: a directed ring of four.
    pair = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    crossed = lookalikes(pair, directed=True)
    assert len(crossed) == 1
    assert nx.is_isomorphic(to_networkx(crossed[0]), nx.cycle_graph(4, create_using=nx.DiGraph))
    assert lookalikes(pair) == []


def test_covers_carry_features_of_edges_and_numbers_of_nodes():
    triangle = plain(nx.cycle_graph(3))
    triangle.x = torch.tensor([[0.25], [0.5], [0.125]])
    triangle.edge_attr = torch.tensor(
        [[float(u + v), 0.0] for u, v in triangle.edge_index.t().tolist()]
    )
    found = lookalikes(triangle)
    assert len(found) == 1
    assert seen(found[0]) == twice(seen(triangle))
    assert found[0].edge_attr.shape == (12, 2)


def test_types_of_edges_are_carried():
    triangle = plain(nx.cycle_graph(3))
    triangle.edge_attr = torch.zeros(6, 1, dtype=torch.long)
    triangle.edge_type = torch.zeros(6, dtype=torch.long)
    assert lookalikes(triangle)[0].edge_type.shape == (12,)


@pytest.mark.parametrize("directed", [False, True])
def test_switches_keep_colored_degrees_with_every_feature(directed):
    start = plain(nx.circular_ladder_graph(5))
    start.x = torch.tensor([[float(n % 2)] for n in range(10)])
    start.edge_attr = torch.tensor([[float((u + v) % 3)] for u, v in start.edge_index.t().tolist()])
    if directed:
        kept = start.edge_index[0] < start.edge_index[1]
        start.edge_index, start.edge_attr = start.edge_index[:, kept], start.edge_attr[kept]
    found = lookalikes(start, kind="switch", directed=directed)
    assert found
    for switched in found:
        assert seen(switched) == seen(start)
        one, other = (ColoredGraph.from_data(g, directed) for g in (start, switched))
        assert not one.same(other)


def brute_switches(graph: nx.Graph) -> list[nx.Graph]:
    """Every connected graph that one exchange of ends leads to, by trying all pairs of edges."""
    found: list[nx.Graph] = [graph]
    for (a, b), second in combinations(graph.edges, 2):
        for c, d in (second, second[::-1]):
            made = graph.copy()
            made.remove_edges_from([(a, b), (c, d)])
            made.add_edges_from([(a, d), (c, b)])
            loops = nx.number_of_selfloops(made)
            same = made.number_of_edges() == graph.number_of_edges()
            new = not any(nx.is_isomorphic(made, other) for other in found)
            if not loops and same and nx.is_connected(made) and new:
                found.append(made)
    return found[1:]


@pytest.mark.parametrize(
    "graph", [nx.path_graph(6), nx.circular_ladder_graph(3), nx.lollipop_graph(4, 3)]
)
def test_all_switches_are_found(graph):
    # With one color, switching at depth 1 is any exchange of ends.
    assert len(lookalikes(plain(graph), kind="switch")) == len(brute_switches(graph))


def test_deep_switches_keep_colors_of_that_depth():
    graph = nx.Graph(nx.cycle_graph(16).edges)
    graph.add_edges_from((n, 100 + n) for n in (0, 4, 9))
    start = plain(nx.convert_node_labels_to_integers(graph))
    shallow = lookalikes(start, kind="switch", depth=1)
    for depth in (2, 3):
        own = Counter(wl_colors(ColoredGraph.from_data(start), depth))
        found = lookalikes(start, kind="switch", depth=depth)
        assert 0 < len(found) < len(shallow)
        for made in found:
            assert Counter(wl_colors(ColoredGraph.from_data(made), depth)) == own


def test_no_network_of_that_depth_tells_a_deep_switch_even_by_a_sum():
    torch.manual_seed(0)
    layers = [GINConv(torch.nn.Sequential(torch.nn.Linear(i, 8), torch.nn.ReLU())) for i in (1, 8)]

    def embedding(graph: Data) -> torch.Tensor:
        x = graph.x
        for layer in layers:
            x = layer(x, graph.edge_index)
        return global_add_pool(x, None)

    start = plain(nx.cycle_graph(12))
    start.edge_index = plain(nx.circular_ladder_graph(6)).edge_index
    found = lookalikes(start, kind="switch", depth=2)
    assert found
    for made in found:
        torch.testing.assert_close(embedding(made), embedding(start))


def test_switches_of_unlike_nodes_are_not_made():
    # a-b and c-d have like second ends only: b would see c's color instead of a's.
    path = Data(
        x=torch.eye(4)[[0, 1, 2, 3, 1]],
        edge_index=torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]),
        num_nodes=5,
    )
    path.edge_index = torch.cat([path.edge_index, path.edge_index.flip(0)], dim=1)
    assert lookalikes(path, kind="switch") == []
