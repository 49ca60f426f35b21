from __future__ import annotations

import math

import networkx as nx
import pytest
import torch
from torch import Tensor
from torch_geometric import transforms
from torch_geometric.data import Batch, Data
from torch_geometric.utils import from_networkx

from gnninterpreter.graphs import random_graphs
from gnninterpreter.spec import Derived, GraphSpec, structure
from gnninterpreter.spec.derived import fill, soft_values
from gnninterpreter.testing import random_soft_graphs

SMOOTH = (
    Derived("degree one-hot", 9),
    Derived("degree one-hot", 9, settings={"in_degree": True}),
    Derived("degree one-hot", 3, settings={"beyond": True}),
    Derived("degree"),
    Derived("degree", settings={"in_degree": True}),
    Derived("local degree profile", 5),
    Derived("random walk", 6),
    Derived("clustering"),
)


def computed(graph: nx.Graph, block: Derived) -> Tensor:
    data = from_networkx(graph)
    data.x = torch.zeros(data.num_nodes, block.width, dtype=torch.double)
    made: Tensor = fill(data, GraphSpec((block,), directed=graph.is_directed())).x
    return made


def triangle_with_tail() -> nx.Graph:
    """Nodes 0, 1, 2 in a triangle; node 3 hangs on node 2."""
    return nx.Graph([(0, 1), (0, 2), (1, 2), (2, 3)])


class TestByHand:
    def test_degrees(self) -> None:
        assert computed(triangle_with_tail(), Derived("degree")).flatten().tolist() == [2, 2, 3, 1]
        hot = computed(triangle_with_tail(), Derived("degree one-hot", 5))
        assert hot.argmax(1).tolist() == [2, 2, 3, 1]
        above = computed(
            triangle_with_tail(), Derived("degree one-hot", 3, settings={"beyond": True})
        )
        assert above.tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 1, 0]]

    def test_directions(self) -> None:
        star = nx.DiGraph([(0, 1), (0, 2)])
        assert computed(star, Derived("degree")).flatten().tolist() == [2, 0, 0]
        arriving = Derived("degree", settings={"in_degree": True})
        assert computed(star, arriving).flatten().tolist() == [0, 1, 1]

    def test_walks(self) -> None:
        # From a leaf of a path of three: back after two steps with probability 1/2.
        walk = computed(nx.path_graph(3), Derived("random walk", 4))
        assert walk.tolist() == [[0, 0.5, 0, 0.5], [0, 1, 0, 1], [0, 0.5, 0, 0.5]]

    def test_clustering(self) -> None:
        found = computed(triangle_with_tail(), Derived("clustering")).flatten().tolist()
        assert found == pytest.approx([1, 1, 1 / 3, 0])

    def test_profile(self) -> None:
        # Neighbours of node 2 have the degrees 2, 2 and 1.
        row = computed(triangle_with_tail(), Derived("local degree profile", 5))[2].tolist()
        assert row == pytest.approx([3, 1, 2, 5 / 3, math.sqrt(2 / 9)])

    def test_laplacian_vectors_have_a_fixed_sign(self) -> None:
        # Normalised, a path of three has the vectors (1, 0, -1) and (1, -sqrt 2, 1).
        found = computed(nx.path_graph(3), Derived("laplacian", 2))
        half = math.sqrt(0.5)
        assert found[:, 0].abs().tolist() == pytest.approx([half, 0, half], abs=1e-9)
        assert found[:, 1].tolist() == pytest.approx([-0.5, half, -0.5])
        assert torch.equal(found, computed(nx.path_graph(3), Derived("laplacian", 2)))

    def test_too_few_nodes_for_laplacian_vectors(self) -> None:
        data = from_networkx(nx.path_graph(3))
        data.x = torch.zeros(3, 3)
        assert fill(data, GraphSpec((Derived("laplacian", 3),))).impossible.tolist() == [True]


class TestTransforms:
    @pytest.mark.parametrize(
        ("transform", "block"),
        [
            (transforms.OneHotDegree(9), Derived("degree one-hot", 10)),
            (transforms.OneHotDegree(9, in_degree=True), SMOOTH[1]),
            (transforms.LocalDegreeProfile(), Derived("local degree profile", 5)),
            (transforms.AddRandomWalkPE(7, None), Derived("random walk", 7)),
        ],
    )
    @pytest.mark.parametrize("directed", [False, True])
    def test_the_same_as_in_pyg(
        self, transform: transforms.BaseTransform, block: Derived, directed: bool
    ) -> None:
        spec = GraphSpec((block,), directed=directed)
        generator = torch.Generator().manual_seed(3)
        for graph in random_graphs(spec, 8, 9, generator).to_data_list():
            wanted = transform(Data(edge_index=graph.edge_index, num_nodes=graph.num_nodes)).x
            assert torch.allclose(graph.x, wanted[:, : block.width], atol=1e-6)

    def test_graphs_are_taken_some_at_a_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        spec = GraphSpec((Derived("random walk", 3),))
        graphs = random_graphs(spec, 7, 6, torch.Generator().manual_seed(0)).to_data_list()
        batch = Batch.from_data_list(graphs)
        monkeypatch.setattr(structure, "MOST_ENTRIES", 80)
        assert torch.equal(fill(batch, spec).x, batch.x)


class TestSoft:
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("block", SMOOTH, ids=lambda block: f"{block.function}")
    def test_soft_values_are_the_discrete_ones_at_0_and_1(
        self, block: Derived, directed: bool
    ) -> None:
        spec = GraphSpec((block,), directed=directed)
        generator = torch.Generator().manual_seed(0)
        graphs = random_graphs(spec, 12, 7, generator, dtype=torch.double, absent=2)
        soft = soft_values(graphs.weight, block)[graphs.presence > 0.5]
        assert torch.allclose(soft, graphs.to_batch().x, atol=1e-9)

    @pytest.mark.parametrize("block", SMOOTH, ids=lambda block: f"{block.function}")
    def test_soft_values_have_a_finite_slope(self, block: Derived) -> None:
        spec = GraphSpec((block,))
        generator = torch.Generator().manual_seed(0)
        for weight in (
            random_soft_graphs(spec, 3, 5, generator).weight,
            random_graphs(spec, 3, 5, generator, absent=2).weight,
        ):
            weight.requires_grad_()
            (slope,) = torch.autograd.grad(soft_values(weight, block).square().sum(), weight)
            assert slope.isfinite().all()
            assert slope.any()

    def test_soft_degrees_are_probabilities(self) -> None:
        # Two edges of 0.5 and 0.2: none 0.4, one 0.5, both 0.1.
        weight = torch.tensor([[[0.0, 0.5, 0.2], [0.5, 0.0, 0.0], [0.2, 0.0, 0.0]]])
        first = soft_values(weight, Derived("degree one-hot", 4))[0, 0]
        assert first.tolist() == pytest.approx([0.4, 0.5, 0.1, 0.0])
