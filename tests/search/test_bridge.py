"""Beginning between two classes: pieces of both, joined by edges, on either side of the border."""

from __future__ import annotations

import torch

from gnninterpreter.batches import present_nodes, widened
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Aim, BoundaryTarget
from gnninterpreter.search import Problem, Recipe
from gnninterpreter.search.bridge import Bridge, _hung_on
from gnninterpreter.search.edits import FeaturePool
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.typicality import Exemplars
from tests.search.known import CLASSES, CYCLE, STAR, begun, known_problem, known_shapes, typicality
from tests.tiny import unwatched

KINDS = GraphSpec(nodes=(Categorical(3),), edges=(Categorical(2),), class_names=("a", "b"))


def between(nodes: int = 16) -> Problem:
    classifier, figures = known_shapes()
    target = BoundaryTarget(CYCLE, "cycle | star", STAR, (CLASSES[CYCLE], CLASSES[STAR]))
    profile = figures.profile(CYCLE, STAR)
    return Problem(
        classifier, None, Recipe.auto().objective, Aim(target, nodes, 2.0 * nodes, profile)
    )


def sides() -> tuple[Exemplars, Exemplars]:
    return typicality(CYCLE).exemplars, typicality(STAR).exemplars


def run(problem: Problem, restarts: int = 4) -> tuple[DenseGraphs, DenseGraphs]:
    state = begun(problem, restarts)
    watched = unwatched(problem, state.graphs.num_candidates)
    found = Bridge(sides())(problem, state, Streams(3, restarts), watched)
    return state.graphs, found.graphs


def test_restarts_come_nearer_to_the_border_than_real_graphs() -> None:
    problem = between()
    before, found = run(problem)
    given, began = problem.evaluate(found), problem.evaluate(before)
    real = problem.evaluate(DenseGraphs.cat([widened(side.graphs, 16) for side in sides()]))
    assert (given.cost < real.cost.min()).all()
    assert (given.score > began.score).all()


def test_a_restart_comes_to_the_same_whatever_their_number() -> None:
    many, few = run(between(), 4)[1], run(between(), 2)[1]
    assert torch.equal(few.weight, many.weight[:2])


def test_other_questions_and_graphs_without_room_are_left_alone() -> None:
    for problem in (known_problem(nodes=10), between(nodes=5)):
        before, found = run(problem)
        assert found is before


def piece(edges: list[tuple[int, int, int]], kinds: list[int], n: int = 6) -> DenseGraphs:
    weight, features = torch.zeros(1, n, n), torch.zeros(1, n, n, 2)
    features[..., 0] = 1.0
    for i, j, kind in edges:
        weight[0, i, j] = weight[0, j, i] = 1.0
        features[0, i, j] = features[0, j, i] = torch.eye(2)[kind]
    nodes = torch.eye(3)[torch.tensor(kinds)].unsqueeze(0)
    return DenseGraphs(KINDS, weight, nodes, features)


def test_one_graph_is_hung_on_another_with_all_its_features() -> None:
    # A triangle at places 1, 2 and 4, and an edge at places 0 and 3.
    triangle = piece([(1, 2, 0), (2, 4, 1), (1, 4, 0)], [0, 1, 2, 0, 1, 0])
    edge = piece([(0, 3, 1)], [2, 0, 0, 1, 0, 0])
    pool = FeaturePool.of(edge)
    found = _hung_on(triangle, edge, torch.tensor([[0.5, 0.9, 0.0]]), pool)
    assert present_nodes(found)[0].tolist() == [True] * 5 + [False]
    assert found.nodes[0, :5].argmax(1).tolist() == [1, 2, 1, 2, 1]
    ends = found.weight[0].triu().nonzero().tolist()
    # The bridge joins the second node of the triangle to the second of the edge.
    assert ends == [[0, 1], [0, 2], [1, 2], [1, 4], [3, 4]]
    assert found.edges is not None
    assert [int(found.edges[0, i, j].argmax()) for i, j in ends] == [0, 0, 1, 1, 1]
    assert torch.equal(found.weight, found.weight.mT)


def test_without_room_nothing_is_hung_on() -> None:
    square = piece([(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 0, 0)], [0] * 6)
    triangle = piece([(0, 1, 1), (1, 2, 1), (0, 2, 1)], [1] * 6)
    pool = FeaturePool.of(triangle)
    found = _hung_on(square, triangle, torch.tensor([[0.0, 0.0, 0.0]]), pool)
    assert torch.equal(found.weight, square.weight)
    assert torch.equal(found.nodes, square.nodes)
