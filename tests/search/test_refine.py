"""Local search: it reaches the best graph where every step leads there, and never does worse."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GATv2Conv, TransformerConv, global_add_pool

from gnninterpreter.distribution import Streams
from gnninterpreter.distribution.pairs import pair_ends
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import Goal
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Judge, refine
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.spec import GraphSpec
from gnninterpreter.testing.models import TinyClassifier
from tests.tiny import (
    COLOURED,
    DIRECTED,
    PLAIN,
    CostJudge,
    degree_classifier,
    every_graph,
    goal,
    graph,
    stack,
)


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
    judge = CostJudge(cost)
    found, judgement = refine(
        everything,
        goal(len(everything)),
        judge,
        Streams(0, len(everything)),
    )
    assert judgement.cost.tolist() == pytest.approx([optimum] * len(everything))
    assert torch.allclose(cost(found), judgement.cost)


def test_directed_graphs_are_improved_too() -> None:
    graphs = random_graphs(DIRECTED, 20, 4, torch.Generator().manual_seed(0), dtype=torch.float64)
    found, judgement = refine(graphs, goal(20), CostJudge(oneway), Streams(0, 20))
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
    judge = CostJudge(rugged)
    found, judgement = refine(graphs, goal(30), judge, Streams(2, 30))
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
    found, judgement = refine(best, goal(), CostJudge(four_nodes), Streams(0, 1), steps)
    assert torch.equal(found.weight, best.weight)
    assert float(judgement.cost) == -6.0


def test_the_search_ends_when_a_few_draws_of_moves_have_not_helped() -> None:
    asked = []

    def counted(graphs: DenseGraphs) -> Tensor:
        asked.append(len(graphs))
        return four_nodes(graphs)

    best = graph(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)])
    refine(best, goal(), CostJudge(counted), Streams(0, 1), 1000)
    assert len(asked) < 100


def test_an_empty_graph_is_not_the_end() -> None:
    judge = CostJudge(four_nodes)
    _, judgement = refine(graph(5, []), goal(), judge, Streams(0, 1))
    assert float(judgement.cost) == pytest.approx(-6.0)


@pytest.mark.parametrize("size", [2, 3])
def test_the_smallest_graphs_are_no_trouble(size: int) -> None:
    judge = CostJudge(lambda graphs: -graphs.num_edges)
    _, judgement = refine(graph(size, []), goal(), judge, Streams(0, 1))
    assert float(judgement.cost) == -size * (size - 1) / 2


def test_no_step_is_taken_where_none_is_allowed() -> None:
    start = graph(5, [(0, 1)])
    judge = CostJudge(four_nodes)
    found, _ = refine(start, goal(), judge, Streams(0, 1), steps=0)
    assert torch.equal(found.weight, start.weight)


def test_a_restart_comes_to_the_same_whatever_their_number() -> None:
    graphs = random_graphs(PLAIN, 6, 6, torch.Generator().manual_seed(3), dtype=torch.float64)
    judge = CostJudge(rugged)
    many, _ = refine(graphs, goal(6), judge, Streams(5, 6))
    for r in range(6):
        alone, _ = refine(graphs[r], goal(), judge, Streams(5, [r]))
        assert torch.equal(alone.weight[0], many.weight[r])


# --- ranked by the gradient of a relaxed model --------------------------------------------------


@pytest.fixture
def judges() -> tuple[Judge, Judge]:
    classifier = degree_classifier()
    return Judge(classifier, RelaxedModel(classifier)), Judge(classifier, None)


def aims(count: int) -> Goal:
    return goal(count, target=1, max_edges=12.0, max_nodes=6.0)


def test_the_gradient_leads_where_the_native_model_would(judges: tuple[Judge, Judge]) -> None:
    start = stack([graph(8, [(0, 1), (1, 2)]), graph(8, [(0, 1), (2, 3)]), graph(8, [])])
    for judge in judges:
        _, judgement = refine(start, aims(3), judge, Streams(0, 3))
        assert (judgement.probability > 0.99).all()
        assert judgement.sound.all()


@pytest.mark.parametrize("layer", [GATConv, GATv2Conv, TransformerConv])
def test_attention_too_says_what_an_edge_that_is_not_there_would_change(
    layer: type[nn.Module],
) -> None:
    torch.manual_seed(0)
    model = TinyClassifier(layer(2, 4), 4, num_classes=2, pool=global_add_pool).double()
    classifier = GraphClassifier(model, COLOURED)
    judge = Judge(classifier, RelaxedModel(classifier))
    square = graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)], COLOURED, colours=[0, 1, 1, 0])
    module = sys.modules["gnninterpreter.search.refine"]
    space = MoveSpace(COLOURED, 4, torch.device("cpu"))
    guess = module._predicted(square, aims(1), judge, space)[0]
    pairs = [tuple(pair) for pair in torch.stack(pair_ends(4, False, space.device), 1).tolist()]
    for diagonal in [(0, 2), (1, 3)]:
        faint = 2e-3
        weight = square.weight.clone()
        weight[0, diagonal[0], diagonal[1]] = weight[0, diagonal[1], diagonal[0]] = faint
        changed = DenseGraphs(COLOURED, weight, square.nodes)
        slope = (judge.soft_cost(changed, aims(1)) - judge.soft_cost(square, aims(1))) / faint
        size = module.SIZE_WEIGHT / 12.0
        assert abs(float(slope)) > 0.1
        assert float(guess[pairs.index(diagonal)]) == pytest.approx(float(slope) + size, rel=0.05)


def test_with_few_moves_to_judge_the_gradient_still_finds_the_way(
    judges: tuple[Judge, Judge], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The function of that name stands before the module in its package.
    module = sys.modules["gnninterpreter.search.refine"]
    monkeypatch.setattr(module, "PROMISING", 3)
    monkeypatch.setattr(module, "AT_RANDOM", 1)
    start = graph(8, [(i, (i + 1) % 6) for i in range(6)])
    before = judges[0](start, aims(1))
    _, judgement = refine(start, aims(1), judges[0], Streams(0, 1))
    assert float(judgement.cost) < float(before.cost) - 10
    assert float(judgement.probability) > 0.95
