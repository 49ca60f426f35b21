"""What a model sees inside: distances between nodes by hand, and real layers."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINConv, global_add_pool

from gnninterpreter.evidence.familiarity import Familiarity, familiarity, node_activations
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import Continuous, GraphSpec

SPEC = GraphSpec(nodes=(Continuous(1),), class_names=("a", "b"))


class Passing(nn.Module):
    """Two layers: the features themselves, then the features with those of the neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.Identity()
        self.sum = GINConv(nn.Identity())
        self.out = nn.Linear(1, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        found: Tensor = self.out(global_add_pool(self.sum(self.own(x), edge_index), batch))
        return found


class Single(Passing):
    """The same for one graph at a time."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(x, edge_index, x.new_zeros(x.size(0), dtype=torch.long))


def pair(left: float, right: float) -> Data:
    """Two nodes joined by an edge."""
    return Data(x=torch.tensor([[left], [right]]), edge_index=torch.tensor([[0, 1], [1, 0]]))


REAL = [pair(float(i), float(i)) for i in range(24)]


@pytest.mark.parametrize("kind", [Passing, Single])
def test_activations_are_those_of_the_message_passing_layers(kind: type[nn.Module]) -> None:
    layers = node_activations(GraphClassifier(kind(), SPEC), [pair(1.0, 2.0), pair(3.0, 5.0)])
    assert [rows.tolist() for rows in layers] == [[[3.0], [3.0], [8.0], [8.0]]]


def test_without_message_passing_every_innermost_module_counts() -> None:
    class Dense(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.twice = nn.Linear(1, 1, bias=False)
            self.out = nn.Linear(1, 2)
            nn.init.constant_(self.twice.weight, 2.0)

        def forward(self, data: Batch) -> Tensor:
            found: Tensor = self.out(global_add_pool(self.twice(data.x), data.batch))
            return found

    (rows,) = node_activations(GraphClassifier(Dense(), SPEC), [pair(1.0, 2.0), pair(3.0, 5.0)])
    assert rows.flatten().tolist() == [2.0, 4.0, 6.0, 10.0]


def test_how_far_out_by_hand() -> None:
    # After the layer a pair (i, i) has twice 2i, so real graphs lie 2 apart, the same for all. One
    # between two of them is nearer than any real one, one that lies 2 beyond is as far, and one
    # that lies 20 beyond is farther.
    model = GraphClassifier(Passing(), SPEC)
    for value, share in ((5.5, 100.0), (24.0, 100.0), (33.0, 0.0)):
        found = familiarity(model, pair(value, value), REAL)
        assert found == Familiarity(share, [share], 24)
        assert found.passed == (share > 0)


def test_a_copy_of_a_real_graph_is_as_familiar_as_can_be() -> None:
    found = familiarity(GraphClassifier(Passing(), SPEC), pair(3.0, 3.0), REAL)
    assert found == Familiarity(100.0, [100.0], 24)


def test_too_few_real_graphs_say_nothing() -> None:
    assert familiarity(GraphClassifier(Passing(), SPEC), pair(1.0, 1.0), REAL[:19]) is None


def test_the_graph_itself_counts_among_those_it_is_held_against() -> None:
    # One of 21 is less than a twentieth, one of 20 is not; two of 40 are just enough.
    assert not Familiarity(0.0, [0.0], 20).passed
    assert Familiarity(0.0, [0.0], 19).passed
    assert Familiarity(100 / 39, [0.0], 39).passed
    assert not Familiarity(100 / 40, [0.0], 40).passed


def test_a_model_that_sees_no_difference_calls_everything_familiar() -> None:
    class Blind(Passing):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            return super().forward(0 * x, edge_index, batch)

    found = familiarity(GraphClassifier(Blind(), SPEC), pair(99.0, 1.0), REAL)
    assert found == Familiarity(100.0, [100.0], 24)
