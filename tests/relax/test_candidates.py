from __future__ import annotations

import torch

from gnninterpreter.graphs import random_graphs
from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.testing import random_soft_graphs
from tests.relax.cases import from_sources, per_target

SPEC = GraphSpec((Categorical(3), Continuous(1)), (Categorical(2), Continuous(1)), directed=True)


def graphs(count: int = 2, size: int = 5, spec: GraphSpec = SPEC):
    return random_graphs(spec, count, size, torch.Generator().manual_seed(0), absent=2)


def test_present_candidates_are_the_batch_in_its_order() -> None:
    drawn = graphs(3, 6)
    candidates, batch = Candidates(drawn), drawn.to_batch()
    nodes, edges = candidates.presence > 0.5, candidates.edge_weight > 0.5
    assert torch.equal(candidates.data.x[nodes], batch.x)
    assert torch.equal(candidates.data.edge_attr[edges], batch.edge_attr)
    assert torch.equal(candidates.data.batch[nodes], batch.batch)
    renumbered = nodes.cumsum(0) - 1
    assert torch.equal(renumbered[candidates.edge_index[:, edges]], batch.edge_index)


def test_edges_are_sorted_by_target_and_have_no_loops() -> None:
    candidates = Candidates(graphs(2, 4))
    source, target = candidates.edge_index
    assert candidates.edge_index.shape == (2, 2 * 4 * 3)
    assert torch.equal(target, torch.arange(8).repeat_interleave(3))
    assert not (source == target).any()
    assert torch.equal(source // 4, target // 4)


def test_views_by_target_and_by_graph() -> None:
    candidates = Candidates(graphs(2, 4))
    weight = per_target(candidates, candidates.edge_weight)
    assert weight.shape == (2, 4, 3)
    assert torch.equal(weight.sum(2), candidates.adjacency().sum(2))
    values = torch.arange(8.0)
    sources = from_sources(candidates, values).flatten()
    assert torch.equal(sources, values[candidates.edge_index[0]])


def test_what_a_reduction_runs_over_is_told_by_its_length() -> None:
    candidates = Candidates(graphs(2, 4))
    index = torch.zeros(1, dtype=torch.long)
    assert candidates.weight_of(index, 24) is candidates.edge_weight
    assert candidates.weight_of(index, 8) is candidates.presence
    looped = candidates.weight_of(index, 32)
    assert torch.equal(looped[:24], candidates.edge_weight)
    assert (looped[24:] == 1).all()
    assert candidates.weight_of(index, 2) is None


def test_with_two_candidates_an_absent_one_is_added() -> None:
    drawn = random_soft_graphs(SPEC, 3, 2, torch.Generator().manual_seed(0))
    candidates = Candidates(drawn)
    assert candidates.size == 3
    assert (candidates.graphs.presence[:, 2] == 0).all()
    assert torch.equal(candidates.graphs.weight[:, :2, :2], drawn.weight)
    assert torch.equal(candidates.graphs.edges[:, :2, :2], drawn.edges)
    lengths = {candidates.num_nodes, candidates.edge_weight.numel()}
    assert len(lengths) == 2


def test_all_edges_are_recognised_and_parts_are_not() -> None:
    candidates = Candidates(graphs(2, 4))
    edge_index = candidates.data.edge_index
    assert candidates.are_all_edges(edge_index)
    assert not candidates.are_all_edges(edge_index[:, :12])
    assert not candidates.are_all_edges(edge_index[:, ::2])
    assert not candidates.are_all_edges(edge_index.flip(0))
    assert not candidates.are_all_edges(edge_index.t())
    assert not candidates.are_all_edges(None)


def test_codes_are_found_by_place_and_by_value() -> None:
    codes = (Categorical(3, encoding="index"), Categorical(2, encoding="index"))
    spec = GraphSpec(codes, (Categorical(4, encoding="index"),))
    drawn = random_soft_graphs(spec, 2, 4, torch.Generator().manual_seed(0))
    candidates = Candidates(drawn)
    flat = drawn.nodes.flatten(0, 1)
    x = candidates.data.x
    assert torch.equal(candidates.soft_codes(x[:, 0]), flat[:, :3])
    assert torch.equal(candidates.soft_codes(x[:, 1]), flat[:, 3:])
    assert torch.equal(candidates.soft_codes(x[:, 1].clone()), flat[:, 3:])
    assert torch.equal(candidates.soft_codes(candidates.data.edge_type), candidates.edge_features)
    assert candidates.soft_codes(torch.zeros(8, dtype=torch.long)) is None
    assert candidates.soft_codes(torch.zeros(8)) is None
    assert candidates.soft_codes(x) is None


def test_what_is_computed_once_carries_a_gradient_whoever_asked_first() -> None:
    drawn = random_soft_graphs(SPEC, 2, 4, torch.Generator().manual_seed(0))
    drawn.weight.requires_grad_()
    candidates = Candidates(drawn)
    with torch.no_grad():
        assert candidates.weight_of(torch.zeros(1), 32).requires_grad
        assert candidates.presence.requires_grad
    assert candidates.edge_weight.requires_grad
