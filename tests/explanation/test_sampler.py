"""Where graphs come from: a mixture of restarts, or graphs that were drawn before."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.errors import SpecError
from gnninterpreter.explanation import DrawnSampler, LatentSampler
from gnninterpreter.explanation.sampler import REPORTING, read_sampler
from gnninterpreter.graphs import random_graphs
from tests.explanation.made import explanation
from tests.tiny import COLOURED, PLAIN, RICH, distribution, edges_only

SURE = 30.0
# Three restarts that are each certain of another graph, with 3, 2 and 1 edges.
CERTAIN = edges_only([[SURE] * 3, [SURE, SURE, -SURE], [SURE, -SURE, -SURE]], 3)


def drawn(count: int = 20) -> DrawnSampler:
    graphs = random_graphs(COLOURED, count, 5, torch.Generator().manual_seed(0))
    fresh = random_graphs(COLOURED, 500, 5, torch.Generator().manual_seed(1))
    return DrawnSampler(graphs, (3, 1), lambda n, seed: fresh[seed % 400 : seed % 400 + n])


def test_one_restart_is_drawn_from() -> None:
    for choice, edges in enumerate((3, 2, 1)):
        sampler = LatentSampler.of(CERTAIN, choice)
        assert set(sampler.sample(50, seed=0).num_edges.tolist()) == {edges}
    assert sampler.modes().num_edges.tolist() == [3, 2, 1]


def test_restarts_are_drawn_from_as_often_as_their_weights_say() -> None:
    sampler = LatentSampler(CERTAIN, (3.0, 0.0, 1.0))
    edges = sampler.sample(2000, seed=4).num_edges
    assert set(edges.tolist()) == {3, 1}
    assert float((edges == 3).double().mean()) == pytest.approx(0.75, abs=0.03)
    # In no order: the first half is like the second.
    assert float((edges[:1000] == 3).double().mean()) == pytest.approx(0.75, abs=0.05)


def test_a_mixture_draws_from_each_restart_independently() -> None:
    """Two restarts with the same open edge must not draw it alike."""
    open_ = edges_only([[0.0, SURE, SURE], [0.0, -SURE, SURE]], 3)
    graphs = LatentSampler(open_, (1.0, 1.0)).sample(400, seed=0)
    share = [
        float(graphs.weight[graphs.weight[:, 0, 2] == side, 0, 1].mean()) for side in (1.0, 0.0)
    ]
    assert share == pytest.approx([0.5, 0.5], abs=0.1)


@pytest.mark.parametrize(
    "sampler",
    [LatentSampler.of(distribution(RICH, 5, restarts=2), 1), drawn()],
    ids=["latents", "graphs"],
)
def test_the_figure_has_a_sample_of_its_own(sampler: LatentSampler | DrawnSampler) -> None:
    for seed in (0, 7, -3):
        own = sampler.sample(20, seed, REPORTING)
        assert sampler.sample(20, seed) == sampler.sample(20, seed)
        assert own == sampler.sample(20, seed, REPORTING)
        assert all(sampler.sample(20, other) != own for other in (0, 7, -3))


def test_drawn_graphs_stand_in_for_a_method_that_is_not_at_hand() -> None:
    live = drawn()
    stored = DrawnSampler(live.drawn, live.best)
    assert stored == live
    assert stored.modes() == live.drawn[torch.tensor([3, 1])]
    kinds = {tuple(weight.flatten().tolist()) for weight in live.drawn.weight}
    found = {tuple(weight.flatten().tolist()) for weight in stored.sample(200, seed=0).weight}
    assert found == kinds


@pytest.mark.parametrize(
    "sampler",
    [
        LatentSampler(distribution(RICH, 4, restarts=2), (1.0, 3.0)),
        DrawnSampler(drawn().drawn, (2,)),
    ],
    ids=["latents", "graphs"],
)
def test_there_and_back(sampler: LatentSampler | DrawnSampler) -> None:
    spec = sampler.modes().spec
    assert read_sampler(sampler.to_json(), sampler.tensors(), spec) == sampler


@pytest.mark.parametrize("name", ["edges", "nodes"])
def test_graphs_that_do_not_fit_are_refused(name: str) -> None:
    stored = DrawnSampler(drawn().drawn, (2,))
    tensors = stored.tensors()
    tensors[name] = tensors[name] + 5 if name == "edges" else tensors[name][:, :3]
    with pytest.raises(ValueError, match=r"places|shape"):
        read_sampler(stored.to_json(), tensors, COLOURED)
    for best in ([], [99]):
        with pytest.raises(ValueError, match="other places"):
            read_sampler({**stored.to_json(), "best": best}, stored.tensors(), COLOURED)


def test_bad_weights() -> None:
    for weights in ((1.0,), (0.0, 0.0, 0.0), (1.0, -1.0, 1.0), (float("nan"), 1.0, 1.0)):
        with pytest.raises(SpecError, match="weights must be"):
            LatentSampler(CERTAIN, weights)


def test_graphs_are_moved_with_the_sampler() -> None:
    """The device that holds nothing stands for one that is not there."""
    one = explanation(distribution(PLAIN, 4))
    moved = one.sampler.to("meta")
    assert isinstance(moved, LatentSampler)
    assert {latent.device.type for latent in moved.distribution.latents()} == {"meta"}
    assert one.best.x.device.type == "cpu"
    assert drawn().to("meta").drawn.weight.device.type == "meta"
    with pytest.raises(SpecError, match="computes nothing"):
        one.to("meta")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_same_graphs_on_a_gpu() -> None:
    for sampler in (
        LatentSampler(CERTAIN, (1.0, 2.0, 3.0)),
        drawn(),
        DrawnSampler(drawn().drawn, (1,)),
    ):
        there = sampler.to("cuda").sample(30, seed=3)
        assert there.weight.device.type == "cuda"
        assert there.to("cpu") == sampler.sample(30, seed=3)
