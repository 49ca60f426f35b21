"""Distributions on fewer candidate nodes."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from gnninterpreter.distribution import GraphDistribution, Narrowing, Streams, from_graphs
from gnninterpreter.distribution.pairs import draw_places
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Categorical, GraphSpec


def spec(directed: bool) -> GraphSpec:
    return GraphSpec(
        nodes=(Categorical(2),),
        edges=(Categorical(2),),
        class_names=("one", "two"),
        directed=directed,
    )


def path(directed: bool, places: list[int], size: int) -> DenseGraphs:
    """A path over some of the candidates."""
    weight = torch.zeros(1, size, size)
    for i, j in pairwise(places):
        weight[0, i, j] = 1.0
        weight[0, j, i] = 0.0 if directed else 1.0
    one = torch.tensor([1.0, 0.0])
    return DenseGraphs(spec(directed), weight, one.expand(1, size, 2), one.expand(1, size, size, 2))


@pytest.mark.parametrize("directed", [True, False])
def test_what_is_drawn_does_not_depend_on_how_many_candidates_there_are(directed: bool) -> None:
    few, many = 4, 7
    small = from_graphs(path(directed, [0, 1, 2], few), 0.7)
    large = from_graphs(path(directed, [0, 1, 2], many), 0.7)
    one, other = small.discrete(5, Streams(3, 1)), large.discrete(5, Streams(3, 1))
    assert torch.equal(one.weight, other.weight[:, :few, :few])
    assert torch.equal(one.nodes, other.nodes[:, :few])
    soft, wide = small.relaxed(5, 0.5, Streams(3, 1)), large.relaxed(5, 0.5, Streams(3, 1))
    assert torch.allclose(soft.weight, wide.weight[:, :few, :few])


def test_no_two_draws_share_a_number() -> None:
    for directed in (True, False, None):
        places = draw_places(5, directed, 3, 2, torch.device("cpu"))
        assert places.unique().numel() == places.numel()


@pytest.mark.parametrize("directed", [True, False])
def test_narrowing_and_widening_is_the_identity(directed: bool) -> None:
    graphs = path(directed, [5, 1, 3], 7)
    whole = from_graphs(graphs, 0.9)
    kept = Narrowing.of(from_graphs(graphs, 1 - 1e-9))
    assert kept.order.tolist() == [[1, 3, 5]]
    narrow = kept.narrowed(whole)
    assert narrow.num_candidates == 3
    assert torch.equal(narrow.mode().weight, kept.graphs(graphs).weight)
    back = kept.widened(narrow, whole)
    for mine, its in zip(back.latents(), whole.latents(), strict=True):
        assert torch.equal(mine, its)


def test_spare_candidates_are_kept_while_there_are_any() -> None:
    present = torch.tensor([[True, False, True, True, False]])
    assert Narrowing.needed(present, spare=1).order.tolist() == [[0, 2, 3, 1]]
    assert Narrowing.needed(present, spare=9).order.size(1) == 5


def test_an_edge_that_is_drawn_now_and_then_is_kept() -> None:
    logits = torch.full((1, 6), -20.0)
    logits[0, -1] = -3.0
    some = GraphDistribution(GraphSpec(class_names=("a", "b")), 4, logits, (torch.zeros(1, 4, 1),))
    assert set(Narrowing.of(some).order[0, :2].tolist()) == {2, 3}
