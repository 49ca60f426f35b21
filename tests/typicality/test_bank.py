import pytest
import torch

from gnninterpreter.errors import CheckpointError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.typicality import TypicalityBank, fit
from gnninterpreter.typicality.measuring import Known, combined, nearest
from gnninterpreter.typicality.pieces import to_dense
from tests.typicality.some import BONDS, KINDS, NUMBERS, PLAIN, path, ring, star, whole


@pytest.fixture(scope="module")
def rings():
    return fit(whole([ring(size) for size in (4, 5, 6, 7, 8, 9, 10)] * 4, PLAIN))


def test_real_ones_are_typical_and_others_are_not(rings):
    asked = to_dense([ring(6), ring(7), star(6), path(7)], PLAIN)
    percentile = rings.percentile(asked)
    assert (percentile[:2] > 50).all()
    assert (percentile[2:] == 0).all()
    penalty = rings.penalty(asked)
    assert (penalty[:2] == 0).all()
    assert (penalty[2:] > 1).all()


def test_no_reward_beyond_the_bar(rings):
    asked = to_dense([ring(6), path(7), star(3)], PLAIN)
    for bar in (5.0, 40.0, 80.0):
        typical = rings.percentile(asked) >= bar
        assert torch.equal(rings.penalty(asked, bar) == 0, typical)


def test_unusual_sizes_are_outside(rings):
    asked = to_dense([ring(3), ring(6), ring(12)], PLAIN)
    assert rings.strangeness(asked).outside.gt(0).tolist() == [True, False, True]
    assert rings.percentile(asked)[[0, 2]].tolist() == [0, 0]


def test_kinds_of_edges_that_no_real_graph_has_are_outside():
    real = [path(size, kinds=[0, 1] * size, bonds=[0] * (size - 1)) for size in (3, 4, 5)]
    for data in real:
        data.x = data.x[: data.num_nodes]
    bank = fit(whole(real * 3, BONDS))
    same = path(4, kinds=[0, 1, 0, 1], bonds=[0, 0, 0])
    bond = path(4, kinds=[0, 1, 0, 1], bonds=[0, 1, 0])
    ends = path(4, kinds=[0, 1, 1, 0], bonds=[0, 0, 0])
    outside = bank.strangeness(to_dense([same, bond, ends], BONDS)).outside
    # One of three edges is of a kind that was never seen.
    assert outside.tolist() == pytest.approx([0, 1 / 3, 1 / 3])


def test_a_near_miss_is_strange_where_real_graphs_are_alike():
    # Half of the class are copies of one graph, half differ from each other.
    varied = [path(5, kinds=[(i // 3**k) % 3 for k in range(5)]) for i in range(0, 240, 12)]
    bank = fit(whole([ring(5, kinds=[0, 1, 2, 0, 1])] * 20 + varied, KINDS))
    asked = to_dense([ring(5, kinds=[0, 1, 2, 0, 1]), ring(5, kinds=[0, 0, 1, 1, 2])], KINDS)
    found = bank.strangeness(asked)
    assert float(found.local[1]) > 2 * float(bank.quantiles[2, 60])
    assert float(found.local[0]) <= float(bank.quantiles[2, 60])


def test_graphs_that_are_all_alike_are_typical_of_themselves():
    bank = fit(whole([ring(6)] * 12, PLAIN))
    percentile = bank.percentile(to_dense([ring(6), ring(5)], PLAIN))
    assert percentile.tolist() == [100, 0]


def test_features_that_are_all_different_are_compared_by_distance():
    generator = torch.Generator().manual_seed(0)
    graphs = [path(5) for _ in range(20)]
    for data in graphs:
        data.x = torch.rand(5, 2, generator=generator) - 0.5
    bank = fit(whole(graphs, NUMBERS))
    far = path(5)
    far.x = torch.full((5, 2), 4.0)
    percentile = bank.percentile(to_dense([graphs[0], far], NUMBERS))
    assert float(percentile[0]) > 0
    assert float(percentile[1]) == 0


def test_nothing_is_learned_from_one_graph_and_something_from_two():
    assert fit(whole([ring(5)], PLAIN)) is None
    bank = fit(whole([ring(5), ring(6)], PLAIN))
    assert torch.isfinite(bank.penalty(to_dense([ring(5), star(4)], PLAIN))).all()


def test_stored_banks_say_the_same(rings):
    stored = rings.tensors()
    assert stored["nodes"].dtype == torch.float16
    asked = to_dense([ring(6), star(6)], PLAIN)
    again = TypicalityBank.from_tensors(stored)
    torch.testing.assert_close(again.penalty(asked), rings.penalty(asked))
    del stored["limits"]
    with pytest.raises(CheckpointError, match="limits"):
        TypicalityBank.from_tensors(stored)


def test_the_penalty_has_a_slope_towards_real_graphs(rings):
    dense = to_dense([path(6)], PLAIN)
    weight = dense.weight.clone()
    weight[0, 0, 5] = weight[0, 5, 0] = 0.5
    weight.requires_grad_()
    (slope,) = torch.autograd.grad(rings.penalty(DenseGraphs(PLAIN, weight, dense.nodes)), weight)
    assert torch.isfinite(slope).all()
    # Closing the ring makes the path more typical.
    assert float(slope[0, 0, 5] + slope[0, 5, 0]) < 0


def test_distances_and_their_mean():
    row, others = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    assert nearest(row, others, 2)[0].tolist() == pytest.approx([1, 5], abs=1e-3)
    assert Known(others).nearest(row, 2)[1][0].tolist() == [1, 0]
    # Beyond 1 lie 0, 1 and 3; a node that is absent does not count.
    apart, presence = torch.tensor([[0.5, 2.0, 4.0, 9.0]]), torch.tensor([[1.0, 1.0, 1.0, 0.0]])
    assert float(combined(apart, presence)) == pytest.approx(4 / 3 + 1.5)


@pytest.mark.parametrize("bar", [5.0, 40.0, 80.0])
def test_the_quick_answer_is_the_answer(rings, bar):
    asked = to_dense([ring(6), ring(7), star(6), path(7), ring(3), path(3)], PLAIN)
    assert torch.equal(rings.reaches(asked, bar), rings.penalty(asked, bar) <= 0)
    assert not rings.reaches(asked[2:4], bar).any()


def test_a_bank_elsewhere_is_the_same_bank(rings):
    assert rings.to("cpu") == rings
