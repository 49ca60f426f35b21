from __future__ import annotations

import pytest
import torch
from torch_geometric import transforms
from torch_geometric.data import Data

from gnninterpreter.errors import DataError, SpecError
from gnninterpreter.spec import Continuous, Derived, GraphSpec
from gnninterpreter.spec.derived import fill
from gnninterpreter.spec.transforms import transform_blocks


def ring(size: int = 4) -> Data:
    forth = torch.stack([torch.arange(size), (torch.arange(size) + 1) % size])
    return Data(edge_index=torch.cat([forth, forth.flip(0)], dim=1), num_nodes=size)


class Halves(transforms.BaseTransform):
    """Appends half the degree, and writes twice the degree to an attribute of its own."""

    def forward(self, data: Data) -> Data:
        degree = data.edge_index[0].bincount(minlength=data.num_nodes).float().view(-1, 1)
        if degree.max() > 3:
            raise ValueError("too many")
        data.x = degree / 2 if data.x is None else torch.cat([data.x, degree / 2], dim=1)
        data.twice = degree * 2
        return data


class Noise(transforms.BaseTransform):
    def forward(self, data: Data) -> Data:
        data.x = torch.cat([data.x, torch.rand(data.num_nodes, 1)], dim=1)
        return data


class Strange(transforms.BaseTransform):
    def forward(self, data: Data) -> Data:
        data.extra = torch.zeros(2, 2)
        return data


class TestBlocks:
    @pytest.mark.parametrize(
        ("transform", "place", "block"),
        [
            (transforms.OneHotDegree(3), "x", Derived("degree one-hot", 4, name="degree")),
            (
                transforms.OneHotDegree(3, in_degree=True),
                "x",
                Derived("degree one-hot", 4, name="degree", settings={"in_degree": True}),
            ),
            (transforms.AddRandomWalkPE(3, None), "x", Derived("random walk", 3)),
            (
                transforms.AddRandomWalkPE(3),
                "random_walk_pe",
                Derived("random walk", 3, name="random_walk_pe"),
            ),
            (
                transforms.AddLaplacianEigenvectorPE(2, "pe"),
                "pe",
                Derived("laplacian", 2, name="pe"),
            ),
            (transforms.Constant(2.0), "x", Continuous(1, 2.0, 2.0, ("constant",), "constant")),
        ],
    )
    def test_transforms_that_are_known_by_name(
        self, transform: object, place: str, block: object
    ) -> None:
        assert transform_blocks(transform, [ring()]) == {place: [block]}

    def test_several_in_their_order(self) -> None:
        both = [transforms.LocalDegreeProfile(), transforms.OneHotDegree(2)]
        listed = transform_blocks(both, [ring()])
        assert [block.width for block in listed["x"]] == [5, 3]
        assert transform_blocks(transforms.Compose(both), [ring()]) == listed

    def test_any_other_is_run(self) -> None:
        found = transform_blocks(Halves(), [ring()])
        assert {place: [b.width for b in blocks] for place, blocks in found.items()} == {
            "x": [1], "twice": [1],
        }  # fmt: skip
        spec = GraphSpec((Continuous(1), *found["x"]), attributes=tuple(found["twice"]))
        graph = ring(5)
        graph.x = torch.zeros(5, 2)
        made = fill(graph, spec)
        assert made.x[:, 1].tolist() == [1.0] * 5
        assert made.twice.flatten().tolist() == [4.0] * 5
        star = torch.tensor([[0, 0, 0, 0], [1, 2, 3, 4]])
        star = Data(torch.zeros(5, 2), torch.cat([star, star.flip(0)], dim=1))
        assert fill(star, spec).impossible.tolist() == [True], "what it refuses is no graph for it"

    @pytest.mark.parametrize(
        ("transform", "error", "message"),
        [
            (transforms.VirtualNode(), DataError, "changes the nodes or edges .*5 and 16 after"),
            (transforms.AddSelfLoops(), DataError, "changes the nodes or edges"),
            (
                transforms.Cartesian(),
                DataError,
                "fails on graphs of nodes, edges and their columns",
            ),
            (Noise(), DataError, "other columns each time it is run"),
            (Strange(), DataError, "writes 'extra', which is not one row a node"),
            (lambda data: 3, DataError, r"must return a graph \(got int\)"),
            (transforms.ToUndirected(), DataError, "appends no columns"),
            (5, SpecError, r"features must be the transform .* \(got 5\)"),
            ([transforms.OneHotDegree(2), "x"], SpecError, r"\(got 'x'\)"),
        ],
    )
    def test_bad_input(self, transform: object, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            transform_blocks(transform, [ring()])
