import pytest
import torch

from gnninterpreter.batches import present_nodes, repeat
from gnninterpreter.search.edits import DRAWS, MOVES, FeaturePool, propose
from gnninterpreter.typicality.pieces import to_dense
from tests.typicality.some import ARROWS, BONDS, KINDS, PLAIN, graph, path, ring, star


def made(move, dense, count=40, seed=0):
    """Many results of one kind of move."""
    odds = tuple(float(name == move) for name in MOVES)
    draws = torch.rand(count, DRAWS, generator=torch.Generator().manual_seed(seed))
    return propose(repeat(dense, count), draws, FeaturePool.of(dense), odds)


@pytest.mark.parametrize(
    ("move", "nodes", "edges"),
    [
        ("drop edge", {5}, {4}),
        ("drop node", {4}, {3}),
        ("drop branch", {4}, {3}),
        ("merge", {4}, {4}),
        ("move end", {4, 5}, {5}),
        ("add edge", {5}, {6}),
        ("hang on", {6}, {6}),
        ("open edge", {6}, {6}),
        ("split", {6}, {6, 7, 8}),
    ],
)
def test_what_becomes_of_a_ring_of_five(move, nodes, edges):
    found = made(move, to_dense([ring(5)], PLAIN, 7))
    assert set(present_nodes(found).sum(1).tolist()) <= nodes
    assert {int(m) for m in found.num_edges} <= edges
    assert torch.equal(found.weight, found.weight.mT)
    assert float(found.weight.diagonal(dim1=1, dim2=2).sum()) == 0


def test_merging_closes_the_ring():
    found = made("merge", to_dense([ring(5)], PLAIN))
    assert found.connected().all()
    assert set(found.weight.sum(2).flatten().tolist()) == {0, 2}


def test_a_branch_goes_with_its_leaves():
    found = made(
        "drop branch", to_dense([graph([(0, 1), (1, 2), (1, 3), (0, 4), (4, 5)], 6)], PLAIN)
    )
    # Without node 1 and its two leaves a path of three is left.
    assert 2 in found.num_edges.tolist()
    assert found.num_edges.min() >= 0


def test_swapping_and_new_kinds_keep_the_structure():
    dense = to_dense([path(4, kinds=[0, 0, 1, 2])], KINDS)
    swapped, changed = made("swap", dense), made("new kind", dense)
    for found in (swapped, changed):
        assert torch.equal(found.weight, repeat(dense, 40).weight)
        assert (found.nodes.sum(2) == 1).all()
    assert (swapped.nodes.sum(1) == dense.nodes.sum(1)).all()
    assert not (changed.nodes.sum(1) == dense.nodes.sum(1)).all()


def test_edge_kinds_are_the_same_both_ways():
    dense = to_dense([ring(4, kinds=[0, 1, 2, 0], bonds=[0, 1, 0, 1])], BONDS, 6)
    for move in MOVES:
        found = made(move, dense)
        here = found.weight.gt(0.5)
        assert torch.equal(found.edges[here], found.edges.transpose(1, 2)[here]), move
        assert (found.edges[here].sum(1) == 1).all(), move
    changed = made("new edge kind", dense)
    assert not torch.equal(changed.edges, repeat(dense, 40).edges)


def test_what_cannot_be_done_is_left_undone():
    full = to_dense([ring(3)], PLAIN)
    for move in ("add edge", "hang on", "open edge", "split", "move end"):
        assert torch.equal(made(move, full).weight, repeat(full, 40).weight), move


def test_arrows_keep_their_direction():
    dense = to_dense([star(3)], ARROWS, 6)
    dense.weight[0, 1:, 0] = 0.0
    found = made("drop edge", dense)
    assert found.num_edges.tolist() == [2] * 40
    assert (found.weight * found.weight.mT).sum() == 0
