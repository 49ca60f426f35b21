from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric import transforms
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx

from gnninterpreter.errors import DataError
from gnninterpreter.spec import Categorical, Continuous, Derived, GraphSpec

DEGREE = Derived("degree one-hot", 8, name="degree")


def graphs(x: str = "", count: int = 12, directed: bool = False) -> list[Data]:
    """Random connected graphs without features, with two random numbers, or with a category."""
    generator = torch.Generator().manual_seed(0)
    found = []
    for seed in range(count):
        graph = nx.gnp_random_graph(7, 0.4, seed=seed, directed=directed)
        nx.add_path(graph, range(7))
        data = from_networkx(graph)
        if x == "numbers":
            data.x = torch.randn(7, 2, generator=generator)
        elif x == "codes":
            data.x = torch.randint(3, (7, 1), generator=generator)
        elif x == "types":
            data.x = torch.eye(3)[torch.randint(3, (7,), generator=generator)]
        found.append(data)
    return found


def made(transform: transforms.BaseTransform, x: str = "", **options: bool) -> list[Data]:
    return [transform(data) for data in graphs(x, **options)]


class TestRecognised:
    @pytest.mark.parametrize(
        ("transform", "block"),
        [
            (transforms.OneHotDegree(7), DEGREE),
            (transforms.AddRandomWalkPE(4, None), Derived("random walk", 4)),
            (transforms.AddLaplacianEigenvectorPE(2, None, True), Derived("laplacian", 2)),
        ],
    )
    @pytest.mark.parametrize("x", ["", "numbers", "types"])
    def test_columns_beside_others(
        self, transform: transforms.BaseTransform, block: Derived, x: str
    ) -> None:
        spec = GraphSpec.from_dataset(made(transform, x))
        assert spec.nodes[-1] == block
        assert len(spec.nodes) == 1 + bool(x)
        assert "recognised as" in spec.metadata["note"]
        assert GraphSpec.from_dataset(made(transform, x), features=transform).nodes == spec.nodes

    def test_attributes_of_their_own(self) -> None:
        transform = transforms.AddRandomWalkPE(4)
        for options in ({}, {"features": transform}):
            spec = GraphSpec.from_dataset(made(transform), **options)
            assert spec.attributes == (Derived("random walk", 4, name="random_walk_pe"),)

    def test_attributes_of_the_whole_graph_are_left_alone(self) -> None:
        several = graphs("")
        for graph in several:
            graph.u = torch.rand(1, 2)
        assert GraphSpec.from_dataset(several).attributes == ()

    def test_several_side_by_side(self) -> None:
        both = transforms.Compose(
            [
                transforms.Constant(),
                transforms.OneHotDegree(7),
                transforms.LocalDegreeProfile(),
                transforms.AddRandomWalkPE(3, None),
            ]
        )
        for options in ({}, {"features": both}):
            spec = GraphSpec.from_dataset(made(both, "numbers"), **options)
            kinds = [block.function for block in spec.derived]
            assert kinds == ["degree one-hot", "local degree profile", "random walk"]
            assert [block.width for block in spec.derived] == [8, 5, 3]
            assert spec.node_width == 19

    def test_integer_codes_beside_each_other(self) -> None:
        data = graphs("codes")
        for one in data:
            one.x = torch.cat([one.x, one.edge_index[0].bincount(minlength=7).view(-1, 1)], dim=1)
        most = max(int(one.x[:, 1].max()) for one in data)
        spec = GraphSpec.from_dataset(data)
        assert spec.nodes == (
            Categorical(3, encoding="index"),
            Derived("degree", encoding="index", settings={"most": most}),
        )  # fmt: skip

    @pytest.mark.parametrize("seen", [True, False])
    def test_a_last_column_for_all_larger_degrees(self, seen: bool) -> None:
        data = graphs("types", count=120 if seen else 300)
        if not seen:
            # Not among the graphs that are looked at first.
            data = [one for one in data if int(one.edge_index[0].bincount().max()) < 5][:150]
            star = from_networkx(nx.star_graph(8))
            star.x = torch.eye(3)[torch.zeros(9, dtype=torch.long)]
            data.insert(1, star)
        for one in data:
            degree = one.edge_index[0].bincount(minlength=len(one.x)).clamp_max(4)
            number = torch.rand(len(one.x), 1)
            one.x = torch.cat([one.x, torch.eye(5)[degree], number], dim=1)
        spec = GraphSpec.from_dataset(data)
        degree = Derived("degree one-hot", 5, name="degree", settings={"beyond": True})
        assert spec.nodes[:2] == (Categorical(3), degree)

    def test_arriving_edges(self) -> None:
        data = made(transforms.OneHotDegree(7, in_degree=True), directed=True)
        assert GraphSpec.from_dataset(data).nodes[0].options == {"in_degree": True}

    def test_clustering(self) -> None:
        data = graphs()
        for one in data:
            graph = nx.Graph(one.edge_index.t().tolist())
            one.x = torch.tensor([[nx.clustering(graph, i)] for i in range(7)])
        assert GraphSpec.from_dataset(data).nodes == (Derived("clustering"),)

    @pytest.mark.parametrize("x", ["numbers", "codes", "types"])
    def test_other_features_are_not_taken_for_derived(self, x: str) -> None:
        assert not GraphSpec.from_dataset(graphs(x)).derived

    def test_what_never_changes_is_a_constant(self) -> None:
        data = from_networkx(nx.cycle_graph(5))
        data.x = torch.full((5, 1), 2.0)
        assert GraphSpec.from_dataset([data] * 3).nodes == (Continuous(1, 2.0, 2.0),)


class TestDisagreement:
    def test_which_graph_and_column(self) -> None:
        data = made(transforms.OneHotDegree(7), "numbers")
        data[7].x[3, 2:] = data[7].x[3, 2:].roll(1)
        with pytest.raises(DataError, match=r"column \d of 'x' of graph 7 is . in row 3, where"):
            GraphSpec.from_dataset(data, features=transforms.OneHotDegree(7))
        spec = GraphSpec.from_dataset(data)
        assert not spec.derived
        assert "not recognised as derived: column" in spec.metadata["note"]

    def test_columns_that_are_not_there(self) -> None:
        with pytest.raises(DataError, match="appends 8 columns to 'x' but the data has 2"):
            GraphSpec.from_dataset(graphs("numbers"), features=transforms.OneHotDegree(7))
        with pytest.raises(DataError, match="graph 0 has no 'random_walk_pe'"):
            GraphSpec.from_dataset(graphs(), features=transforms.AddRandomWalkPE(2))
