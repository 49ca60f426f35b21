"""Local search: it reaches the best graph where every step leads there, and never does worse."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GATv2Conv, TransformerConv, global_add_pool

from gnninterpreter.distribution import Streams
from gnninterpreter.distribution.pairs import pair_ends
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import Aim
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Evaluation, Problem, Recipe
from gnninterpreter.search import local as module
from gnninterpreter.search.local import improved
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.spec import GraphSpec
from gnninterpreter.testing.models import TinyClassifier
from tests.tiny import (
    COLOURED,
    DIRECTED,
    PLAIN,
    aim,
    degree_classifier,
    every_graph,
    graph,
    problem,
    stack,
)


def refine(
    graphs: DenseGraphs, task: Problem, streams: Streams, steps: int = 100
) -> tuple[DenseGraphs, Evaluation]:
    found = improved(task, graphs, streams, steps)
    return found, task.evaluate(found)


def four_nodes(graphs: DenseGraphs) -> Tensor:
    """Lowest for the complete graph on four nodes; a fifth costs more than its edges bring."""
    return 10.0 * (graphs.num_nodes - 4).clamp_min(0) - graphs.num_edges


def mixed(graphs: DenseGraphs) -> Tensor:
    """Lowest for complete graphs with as many nodes of the one colour as of the other."""
    alike = graphs.nodes @ graphs.nodes.transpose(1, 2)
    same = (graphs.weight * alike).sum(dim=(1, 2)) / 2
    return -0.1 * same - (graphs.num_edges - same)


def oneway(graphs: DenseGraphs) -> Tensor:
    """Lowest for complete directed graphs with as many edges as can be from colour 0 to 1."""
    to_one = graphs.nodes[..., 1].unsqueeze(2) * graphs.nodes[..., 0].unsqueeze(1)
    good = (graphs.weight * to_one).sum(dim=(1, 2))
    return -0.1 * (graphs.num_edges - good) - good


@pytest.mark.parametrize(
    ("cost", "spec", "size"),
    [(four_nodes, PLAIN, 5), (mixed, COLOURED, 4)],
    ids=["size", "colours"],
)
def test_the_best_of_all_graphs_is_reached_from_every_one(
    cost: Callable[[DenseGraphs], Tensor], spec: GraphSpec, size: int
) -> None:
    everything = every_graph(size, spec)
    optimum = float(cost(everything).min())
    found, judgement = refine(everything, problem(cost), Streams(0, len(everything)))
    assert judgement.cost.tolist() == pytest.approx([optimum] * len(everything))
    assert torch.allclose(cost(found), judgement.cost)


def test_directed_graphs_are_improved_too() -> None:
    graphs = random_graphs(DIRECTED, 20, 4, torch.Generator().manual_seed(0), dtype=torch.float64)
    found, judgement = refine(graphs, problem(oneway), Streams(0, 20))
    # Two nodes of each colour: four of the twelve edges go from the one to the other.
    assert judgement.cost.tolist() == pytest.approx([-4.8] * 20)
    assert found.num_candidates == 4


def rugged(graphs: DenseGraphs) -> Tensor:
    """A cost with many valleys, which does not see how nodes are numbered."""
    degree, present = graphs.weight.sum(dim=2), graphs.presence
    triangles = (graphs.weight @ graphs.weight @ graphs.weight).diagonal(dim1=1, dim2=2).sum(1) / 6
    of_nodes = 1.7 * degree.sin() + (2.3 * degree.square()).cos()
    return (present * of_nodes).sum(1) + (5.1 * triangles).sin()


def test_what_comes_out_is_never_worse_and_no_single_move_improves_it() -> None:
    graphs = random_graphs(PLAIN, 30, 6, torch.Generator().manual_seed(1), dtype=torch.float64)
    before = rugged(graphs)
    task = problem(rugged)
    found, judgement = refine(graphs, task, Streams(2, 30))
    after = judgement.cost
    assert (after <= before).all()
    assert (after < before - 0.1).sum() > 15
    space = MoveSpace(PLAIN, 6, torch.device("cpu"))
    possible = space.possible(found)
    for b in range(30):
        moves = possible[b].nonzero().flatten()
        neighbours = space.apply(found[[b] * len(moves)], moves)
        assert float(rugged(neighbours).min()) >= float(after[b]) - 1e-3


@pytest.mark.parametrize("steps", [1, 2, 100])
def test_an_optimum_is_left_as_it_is(steps: int) -> None:
    best = graph(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)])
    found, judgement = refine(best, problem(four_nodes), Streams(0, 1), steps)
    assert torch.equal(found.weight, best.weight)
    assert float(judgement.cost) == -6.0


def test_the_search_ends_when_a_few_draws_of_moves_have_not_helped() -> None:
    asked = []

    def counted(graphs: DenseGraphs) -> Tensor:
        asked.append(len(graphs))
        return four_nodes(graphs)

    best = graph(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)])
    refine(best, problem(counted), Streams(0, 1), 1000)
    assert len(asked) < 100


def test_an_empty_graph_is_not_the_end() -> None:
    task = problem(four_nodes)
    _, judgement = refine(graph(5, []), task, Streams(0, 1))
    assert float(judgement.cost) == pytest.approx(-6.0)


@pytest.mark.parametrize("size", [2, 3])
def test_the_smallest_graphs_are_no_trouble(size: int) -> None:
    task = problem(lambda graphs: -graphs.num_edges)
    _, judgement = refine(graph(size, []), task, Streams(0, 1))
    assert float(judgement.cost) == -size * (size - 1) / 2


def test_no_step_is_taken_where_none_is_allowed() -> None:
    start = graph(5, [(0, 1)])
    task = problem(four_nodes)
    found, _ = refine(start, task, Streams(0, 1), steps=0)
    assert torch.equal(found.weight, start.weight)


def test_a_restart_comes_to_the_same_whatever_their_number() -> None:
    graphs = random_graphs(PLAIN, 6, 6, torch.Generator().manual_seed(3), dtype=torch.float64)
    task = problem(rugged)
    many, _ = refine(graphs, task, Streams(5, 6))
    for r in range(6):
        alone, _ = refine(graphs[r], task, Streams(5, [r]))
        assert torch.equal(alone.weight[0], many.weight[r])


# --- ranked by the gradient of a relaxed model --------------------------------------------------


def tasks() -> tuple[Problem, Problem]:
    """The same search with the relaxed model and without."""
    classifier = degree_classifier()
    objective, after = Recipe.auto().objective, aim(1, max_edges=12.0, max_nodes=6)
    return (
        Problem(classifier, RelaxedModel(classifier), objective, after),
        Problem(classifier, None, objective, after),
    )


def test_the_gradient_leads_where_the_native_model_would() -> None:
    start = stack([graph(8, [(0, 1), (1, 2)]), graph(8, [(0, 1), (2, 3)]), graph(8, [])])
    for task in tasks():
        _, seen = refine(start, task, Streams(0, 3))
        assert (seen.score > 0.99).all()
        assert seen.feasible.all()


@pytest.mark.parametrize("layer", [GATConv, GATv2Conv, TransformerConv])
def test_attention_too_says_what_an_edge_that_is_not_there_would_change(
    layer: type[nn.Module],
) -> None:
    torch.manual_seed(0)
    model = TinyClassifier(layer(2, 4), 4, num_classes=2, pool=global_add_pool).double()
    classifier = GraphClassifier(model, COLOURED)
    after: Aim = aim(1, max_edges=12.0, max_nodes=6)
    task = Problem(classifier, RelaxedModel(classifier), Recipe.auto().objective, after)
    square = graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)], COLOURED, colours=[0, 1, 1, 0])
    predicted = module.Improving(task, square, Streams(0, 1))._predicted()
    assert predicted is not None
    guess = predicted[0]
    pairs = [
        tuple(pair) for pair in torch.stack(pair_ends(4, False, square.weight.device), 1).tolist()
    ]
    for diagonal in [(0, 2), (1, 3)]:
        faint = 2e-3
        weight = square.weight.clone()
        weight[0, diagonal[0], diagonal[1]] = weight[0, diagonal[1], diagonal[0]] = faint
        changed = DenseGraphs(COLOURED, weight, square.nodes)
        slope = (task.slope(changed) - task.slope(square)) / faint
        assert abs(float(slope)) > 0.1
        assert float(guess[pairs.index(diagonal)]) == pytest.approx(float(slope), rel=0.05)


def test_with_few_moves_to_try_the_gradient_still_finds_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PROMISING", 3)
    monkeypatch.setattr(module, "AT_RANDOM", 1)
    start, task = graph(8, [(i, (i + 1) % 6) for i in range(6)]), tasks()[0]
    before = task.evaluate(start)
    _, seen = refine(start, task, Streams(0, 1))
    assert float(seen.cost) < float(before.cost) - 10
    assert float(seen.score) > 0.95
