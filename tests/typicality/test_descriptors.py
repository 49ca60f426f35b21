import pytest
import torch

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.typicality.descriptors import FEW_COLUMNS, describe
from gnninterpreter.typicality.kinds import NODES
from gnninterpreter.typicality.pieces import to_dense
from tests.typicality.some import BONDS, KINDS, NUMBERS, PLAIN, graph, path, ring, shuffled, star


def test_nodes_of_a_triangle_and_of_a_star():
    found = describe(to_dense([ring(3), star(3)], PLAIN))
    # Degree, then least, mean and largest of the neighbours.
    assert found.nodes["degree"][0, 0].tolist() == pytest.approx([2, 2, 2, 2])
    assert found.nodes["degree"][1, 0].tolist() == pytest.approx([3, 1, 1, 1])
    assert found.nodes["degree"][1, 1].tolist() == pytest.approx([1, 3, 3, 3])
    # Back after 2, 3, 4 steps: 1/2, 1/4, 3/8 on a triangle; a star is back at its hub every second.
    assert found.nodes["walk"][0, 0, :3].tolist() == pytest.approx([0.5, 0.25, 0.375])
    assert found.nodes["walk"][1, 0].tolist() == pytest.approx([1, 0, 1, 0, 1, 0, 1], abs=1e-6)


def test_the_whole_of_a_ring_and_of_a_path():
    found = describe(to_dense([ring(6), path(4)], PLAIN))
    assert found.graphs["size"].exp().tolist() == [
        pytest.approx([6, 6], rel=1e-5),
        pytest.approx([4, 3], rel=1e-5),
    ]
    assert found.graphs["cycles"][0].tolist() == pytest.approx([1, 0.693147, 1 / 6])
    assert found.graphs["cycles"][1].tolist() == pytest.approx([0.75, 0, 0], abs=1e-6)
    assert found.graphs["degrees"][1, :2].tolist() == pytest.approx([0.5, 0.5])
    # Within two steps: all but the opposite node of a ring; 10 of 12 ordered pairs of a path.
    assert found.graphs["reach"][:, 0].tolist() == pytest.approx([0.8, 10 / 12])


def test_kinds_of_every_block_are_held_against_degrees_and_each_other():
    spec = GraphSpec(nodes=(Categorical(2), Continuous(1), Categorical(3)), class_names=("a", "b"))
    data = path(3)
    data.x = torch.cat([torch.eye(2)[[0, 1, 0]], torch.rand(3, 1), torch.eye(3)[[2, 0, 2]]], dim=1)
    tables = describe(to_dense([data], spec)).tables
    # The middle one, of the first kind, has two neighbours, the ends, of the last, have one.
    degrees = tables["other degrees"].view(3, -1)
    assert degrees[:, :3].tolist() == [[0, 1, 0], [0, 0, 0], [2, 0, 0]]
    assert tables["together"].view(2, 3).tolist() == [[0, 0, 2], [1, 0, 0]]
    assert "together" not in describe(to_dense([path(3, kinds=[0, 1, 2])], KINDS)).tables


def test_kinds_of_neighbours_are_told_apart_by_the_edge_between():
    one = path(3, kinds=[0, 1, 2], bonds=[0, 1])
    other = path(3, kinds=[0, 1, 2], bonds=[1, 0])
    found = describe(to_dense([one, other], BONDS))
    assert found.nodes["around"][:, 1].tolist() == [[1, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0]]
    assert not torch.equal(found.tables["edges"][0], found.tables["edges"][1])
    assert found.tables["degrees"].sum(1).tolist() == [3, 3]


@pytest.mark.parametrize("spec", [PLAIN, KINDS, BONDS])
def test_order_and_number_of_candidates_do_not_matter(spec):
    kinds = None if spec is PLAIN else [0, 1, 2, 0]
    bonds = [0, 1, 1, 0] if spec is BONDS else None
    one = graph([(0, 1), (1, 2), (2, 0), (2, 3)], 4, kinds, bonds)
    tight, wide = to_dense([one], spec), to_dense([one], spec, 7)
    first = describe(tight)
    for other in (describe(wide), describe(shuffled(tight, [3, 1, 0, 2]))):
        for name, values in first.graphs.items():
            torch.testing.assert_close(other.graphs[name], values, msg=name)


def test_numbers_are_read_between_their_bounds():
    data = path(3)
    data.x = torch.tensor([[-4.0, 4.0], [0.0, 0.0], [4.0, -4.0]])
    found = describe(to_dense([data], NUMBERS))
    assert found.nodes["kind"][0].tolist() == [[0, 1], [0.5, 0.5], [1, 0]]
    assert found.tables == {}


def test_soft_graphs_have_a_slope_everywhere():
    dense = to_dense([path(4, kinds=[0, 1, 2, 0])], KINDS, 5)
    weight = dense.weight.clone().requires_grad_()
    found = describe(DenseGraphs(KINDS, weight, dense.nodes))
    total = sum(values.sum() for values in (*found.graphs.values(), *found.tables.values()))
    (slope,) = torch.autograd.grad(total, weight)
    assert torch.isfinite(slope).all()
    assert float(slope.abs().sum()) > 0


def test_many_kinds_take_few_columns_and_stay_apart() -> None:
    spec = GraphSpec(nodes=(Categorical(200),), class_names=("a", "b"))
    kinds = torch.randperm(200, generator=torch.Generator().manual_seed(0))[:120].view(40, 3)
    weight = torch.zeros(40, 3, 3)
    weight[:, 0, 1] = weight[:, 1, 0] = weight[:, 1, 2] = weight[:, 2, 1] = 1.0
    nodes = torch.nn.functional.one_hot(kinds, 200).float().requires_grad_()
    found = describe(DenseGraphs(spec, weight, nodes))
    assert found.nodes["kind"].shape == (40, 3, FEW_COLUMNS)
    assert found.nodes["around"].shape == (40, 3, FEW_COLUMNS)
    rows = found.nodes["kind"].detach().flatten(0, 1)
    apart = torch.cdist(rows, rows)[~torch.eye(120, dtype=torch.bool)]
    # Two different kinds are the square root of 2 apart, as they are in columns of their own.
    assert abs(float(apart.mean()) - 2**0.5) < 0.03
    assert float(apart.min()) > 0.6
    # What lies around the middle is the sum of both ends, whatever their order.
    around = found.nodes["around"].detach()
    torch.testing.assert_close(around[:, 1], rows.view(40, 3, -1)[:, [0, 2]].sum(1))
    # Tables tell every kind apart, so that one that no real graph has is seen.
    assert found.tables[NODES].shape == (40, 200)
    found.graphs["mean kind"].sum().backward()
    assert nodes.grad is not None
    assert bool(nodes.grad.isfinite().all())
