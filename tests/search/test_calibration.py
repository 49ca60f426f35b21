"""Calibration: the mode is the given graph, closed where a change would harm and open elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams, centred, from_graphs
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.search import Problem, calibration
from gnninterpreter.search.calibration import calibrated, harms
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.spec import Categorical, GraphSpec
from tests.tiny import (
    COLOURED,
    DIRECTED,
    PLAIN,
    RICH,
    SPECS,
    distribution,
    edges_only,
    graph,
    problem,
    stack,
)

SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]
CPU = torch.device("cpu")


def four_edges(graphs: DenseGraphs) -> Tensor:
    """One for graphs with four edges, half for each that is missing or too much."""
    return 0.5 ** (graphs.num_edges - 4).abs()


def at_least_four_edges(graphs: DenseGraphs) -> Tensor:
    """More edges do no harm."""
    return 0.5 ** (4 - graphs.num_edges).clamp_min(0)


def about_four_edges(graphs: DenseGraphs) -> Tensor:
    """One edge more or less does no harm; two do."""
    return ((graphs.num_edges - 4).abs() < 1.5).double()


def anything(graphs: DenseGraphs) -> Tensor:
    return torch.ones(len(graphs), dtype=torch.double)


def task(probability: Callable[[DenseGraphs], Tensor] = four_edges) -> Problem:
    return problem(lambda graphs: -probability(graphs), probability)


def settle(
    learned: GraphDistribution,
    graphs: DenseGraphs,
    of: Problem,
    streams: Streams,
) -> tuple[GraphDistribution, Tensor]:
    return calibrated(of, learned, graphs, streams)


def assert_same(one: DenseGraphs, other: DenseGraphs) -> None:
    assert torch.equal(one.weight, other.weight)
    assert torch.allclose(one.nodes, other.nodes, atol=1e-3)
    if one.edges is not None and other.edges is not None:
        off = ~torch.eye(one.num_candidates, dtype=torch.bool)
        assert torch.allclose(one.edges[:, off], other.edges[:, off], atol=1e-3)


@pytest.mark.parametrize("probability", [four_edges, anything])
@pytest.mark.parametrize("name", SPECS)
def test_the_mode_of_what_comes_out_is_the_given_graph(
    name: str, probability: Callable[[DenseGraphs], Tensor]
) -> None:
    spec = SPECS[name]
    learned = distribution(spec, 5, restarts=6, seed=1)
    graphs = random_graphs(spec, 6, 5, torch.Generator().manual_seed(2), dtype=torch.float64)
    for factor in (1.0, 3.0):
        assert_same(centred(learned, graphs, factor).mode(), graphs)
    settled, _ = settle(learned, graphs, task(probability), Streams(0, 6))
    assert_same(settled.mode(), graphs)


def test_samples_are_as_probable_as_the_mode() -> None:
    learned = distribution(PLAIN, 5, restarts=4, seed=3)
    graphs = stack([graph(5, SQUARE)] * 4)
    settled, reached = settle(learned, graphs, task(), Streams(0, 4))
    assert (reached > 0.995).all()
    fresh = settled.discrete(2000, Streams(77, 4))
    means = four_edges(fresh).view(4, -1).mean(dim=1)
    assert (means > 0.99).all()


def test_a_mode_that_the_model_is_not_sure_of_gets_as_close_as_it_can() -> None:
    learned = distribution(PLAIN, 5, seed=3)
    unsure = task(lambda graphs: 0.7 * four_edges(graphs))
    _, reached = settle(learned, graph(5, SQUARE), unsure, Streams(0, 1))
    assert float(reached) == pytest.approx(0.7, abs=0.005)


def test_changes_that_harm_are_closed_and_others_stay_open() -> None:
    """In a graph of four edges, taking one away harms; putting one in does not."""
    learned = edges_only([[0.5] * 10], 5)
    square = graph(5, SQUARE)
    settled, reached = settle(learned, square, task(at_least_four_edges), Streams(0, 1))
    present = learned.to_pairs(square.weight)[0] > 0.5
    theta = settled.edge_probability[0]
    assert (theta[present] > 0.999).all()
    # Edges at a present node are open; there is none between two absent ones here.
    assert (theta[~present] > 0.2).all()
    assert float(settled.entropy()) > 4
    assert float(reached) > 0.99


def test_changes_that_are_harmless_only_one_by_one_are_made_rare() -> None:
    graphs = stack([graph(5, SQUARE)] * 3)
    side = 2 * edges_only([[0.0] * 10], 5).to_pairs(graphs.weight) - 1
    sizes = torch.tensor([[0.1], [1.5], [9.0]], dtype=torch.double)
    learned = distribution(PLAIN, 5, restarts=3).with_latents(
        [side * sizes, torch.zeros(3, 5, 1, dtype=torch.double)]
    )
    settled, reached = settle(learned, graphs, task(about_four_edges), Streams(0, 3))
    assert (reached > 0.995).all()
    fresh = settled.discrete(2000, Streams(77, 3))
    assert (about_four_edges(fresh).view(3, -1).mean(dim=1) > 0.99).all()
    # The first two needed more certainty than was learned, the last did not.
    certain = settled.edge_logits.abs().amin(dim=1)
    assert (certain[:2] > 2.5).all()
    assert (settled.entropy()[:2] > 0.01).all()
    assert torch.equal(settled.edge_logits[2], learned.edge_logits[2])


def test_categories_that_matter_are_closed_and_others_stay_open() -> None:
    def first_colour(graphs: DenseGraphs) -> Tensor:
        """Less for every present node that does not have the first of two colours."""
        return 0.5 ** (graphs.presence.round() * graphs.nodes[..., 1]).sum(1)

    spec = replace(COLOURED, nodes=(Categorical(2), Categorical(3)))
    plain = graph(3, SQUARE[:2], COLOURED)
    other = torch.nn.functional.one_hot(torch.tensor([[0, 1, 2]]), 3).double()
    path = replace(plain, spec=spec, nodes=torch.cat([plain.nodes, other], dim=2))
    learned = distribution(spec, 3)
    learned = learned.with_latents([torch.zeros_like(latent) for latent in learned.latents()])
    settled, reached = settle(learned, path, task(first_colour), Streams(0, 1))
    assert float(reached) > 0.995
    assert (settled.node_logits[0].softmax(-1)[0, :, 0] > 0.99).all()
    chosen = settled.node_logits[1].softmax(-1)[0, [0, 1, 2], [0, 1, 2]]
    assert (chosen > 0.4).all()
    assert (chosen < 0.8).all()


def test_where_nothing_harms_what_was_learned_stays() -> None:
    learned = edges_only([[2.0, 3.0, -1.5]], 3)
    path = graph(3, [(0, 1), (0, 2)])
    settled, reached = settle(learned, path, task(anything), Streams(0, 1))
    assert settled.edge_logits.tolist() == learned.edge_logits.tolist()
    assert reached.tolist() == [1.0]


def test_nothing_becomes_less_certain_than_it_was_learned() -> None:
    learned = distribution(RICH, 4, restarts=3, seed=6)
    graphs = learned.mode()
    settled, _ = settle(learned, graphs, task(), Streams(0, 3))
    assert (settled.edge_logits.abs() >= learned.edge_logits.abs() - 1e-9).all()
    assert (settled.entropy() <= learned.entropy() + 1e-9).all()


def test_the_more_a_change_harms_the_more_certain_it_is_ruled_out() -> None:
    learned = edges_only([[0.1] * 10], 5)
    square = graph(5, SQUARE)

    def steep(slope: float) -> Problem:
        return task(lambda graphs: torch.exp(-slope * (graphs.num_edges - 4).abs()))

    certain = [
        float(settle(learned, square, steep(slope), Streams(0, 1))[0].edge_logits.abs().min())
        for slope in (0.0, 1e-3, 1e-1, 3.0)
    ]
    assert certain == sorted(certain)
    assert certain[-1] > certain[0] + 3


def test_harms_are_what_every_single_move_costs() -> None:
    for spec in (PLAIN, DIRECTED):
        graphs = random_graphs(spec, 3, 4, torch.Generator().manual_seed(1), dtype=torch.float64)
        space = MoveSpace(spec, 4, CPU)
        found = harms(task(), graphs, space)
        possible = space.possible(graphs)
        assert found.shape == possible.shape
        assert (found[~possible] == 1).all()
        for r, move in possible.nonzero().tolist():
            changed = space.apply(graphs[r], torch.tensor([move]))
            lost = float(four_edges(graphs[r]) - four_edges(changed))
            assert float(found[r, move]) == pytest.approx(max(lost, 0.0))


def test_of_a_large_graph_some_moves_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "FEWEST_TRIED", 12)
    monkeypatch.setattr(calibration, "MOST_TRIED", 1)
    ring = graph(9, [(i, (i + 1) % 8) for i in range(8)])
    space = MoveSpace(PLAIN, 9, CPU)
    found = harms(problem(lambda g: -anything(g), anything), ring, space)[0]
    assert int((found < 1).sum()) == 12
    edges = from_graphs(ring).edge_logits[0] > 0
    # Eight of 36 pairs are edges, and of twelve moves more than their share are of these.
    assert int((found[: space.sizes[0]] < 1)[edges].sum()) >= 4
    again = harms(problem(lambda g: -anything(g), anything), ring, space)[0]
    assert torch.equal(found, again)


def test_of_kinds_by_the_hundred_some_are_tried_and_edges_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calibration, "FEWEST_TRIED", 12)
    # Enough for all changes if pairs of nodes were all that counts.
    monkeypatch.setattr(calibration, "MOST_TRIED", 7 * 500 * 200)
    spec = GraphSpec(nodes=(Categorical(500),), class_names=("a", "b"))
    ring = replace(graph(6, [(i, (i + 1) % 6) for i in range(6)]), spec=spec)
    ring = replace(ring, nodes=torch.eye(500, dtype=torch.float64)[:6].unsqueeze(0))
    space = MoveSpace(spec, 6, CPU)
    found = harms(problem(lambda g: -anything(g), anything), ring, space)[0]
    flips, changes = (part < 1 for part in torch.split(found, list(space.sizes))[:2])
    assert flips.all()
    assert 60 <= int(changes.sum()) <= 140  # half of the two hundred that there is time for
    assert changes.view(6, 500).any(1).all()


def test_a_change_that_leaves_the_graph_in_pieces_costs_everything() -> None:
    path = graph(4, [(0, 1), (1, 2), (2, 3)])
    space = MoveSpace(PLAIN, 4, CPU)
    whole = problem(lambda g: -anything(g), anything, allows=DenseGraphs.connected)
    found = harms(whole, path, space)[0]
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    costs = {pair: float(found[i]) for i, pair in enumerate(pairs)}
    assert costs == {(0, 1): 0, (0, 2): 0, (0, 3): 0, (1, 2): 1, (1, 3): 0, (2, 3): 0}


def test_a_larger_factor_leaves_less_open() -> None:
    learned = distribution(RICH, 4, restarts=3, seed=5)
    graphs = random_graphs(RICH, 3, 4, torch.Generator().manual_seed(0), dtype=torch.float64)
    left = [centred(learned, graphs, factor).entropy() for factor in (1.0, 1.5, 3.0, 10.0)]
    for looser, tighter in pairwise(left):
        assert (tighter < looser).all()


def test_each_restart_has_its_own_factor() -> None:
    learned = distribution(DIRECTED, 4, restarts=2, seed=5)
    graphs = random_graphs(DIRECTED, 2, 4, torch.Generator().manual_seed(0), dtype=torch.float64)
    both = centred(learned, graphs, torch.tensor([1.0, 4.0]))
    for r, factor in enumerate((1.0, 4.0)):
        alone = centred(learned.select([r]), graphs[r], factor)
        for one, other in zip(alone.latents(), both.latents(), strict=True):
            assert torch.equal(one[0], other[r])


def test_logits_on_the_wrong_side_are_moved_over() -> None:
    learned = edges_only([[-2.0, 0.1, 4.0]], 3)
    sides = centred(learned, graph(3, [(0, 1), (0, 2)])).edge_logits[0]
    assert (sides[:2] > 0.5).all()
    assert sides[2] < -0.5


def test_a_restart_is_calibrated_the_same_whatever_their_number() -> None:
    """Also where it is in doubt for longer than those before it."""
    graphs = stack([graph(5, SQUARE)] * 4)
    side = 2 * edges_only([[0.0] * 10], 5).to_pairs(graphs.weight) - 1
    sizes = torch.tensor([[9.0], [0.1], [1.5], [0.3]], dtype=torch.double)
    learned = distribution(PLAIN, 5, restarts=4)
    learned = learned.with_latents([side * sizes, *learned.node_logits])
    rule = task(lambda graphs: about_four_edges(graphs) * four_edges(graphs).pow(1e-4))
    many, reached = settle(learned, graphs, rule, Streams(6, 4))
    assert reached.unique().numel() > 2
    for r in range(4):
        alone, mean = settle(learned.select([r]), graphs[r], rule, Streams(6, [r]))
        assert torch.allclose(alone.edge_logits[0], many.edge_logits[r])
        assert float(mean) == pytest.approx(float(reached[r]), abs=1e-12)
