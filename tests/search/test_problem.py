"""The objective of `Recipe.auto`: every component of the cost by hand, and their order."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn

from gnninterpreter.distribution import Streams
from gnninterpreter.errors import ModelError
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.objective import Aim
from gnninterpreter.objective.likeness import UNLIKE
from gnninterpreter.objective.wholeness import OVER_LIMIT
from gnninterpreter.recording import fixed_shapes
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Evaluation, Problem, Recipe
from tests.tiny import PLAIN, Oracle, aim, degree_classifier, distribution, graph, stack

OBJECTIVE = Recipe.auto().objective
WEIGHT = {w.term.name: w.discrete for w in OBJECTIVE.terms}
PATH = [(0, 1), (1, 2), (2, 3)]
SURE = 1 - 1e-9


class Answers(GraphClassifier):
    """A classifier with the same answers for every graph."""

    def __init__(self, probability: float, embedding: list[float] | None = None) -> None:
        self.logits = torch.tensor([[math.log(probability), math.log(1 - probability)]]).double()
        self.device = torch.device("cpu")
        self.embedding = torch.tensor([embedding or [1.0, 0.0]]).double()

    def score(self, graphs: DenseGraphs, chunk: int = 512) -> Scores:
        return Scores(self.logits.expand(len(graphs), -1), self.embedding.expand(len(graphs), -1))


def judged(
    graphs: DenseGraphs, probability: float = SURE, after: Aim | None = None,
    embedding: list[float] | None = None,
) -> Evaluation:  # fmt: skip
    task = Problem(Answers(probability, embedding), None, OBJECTIVE, after or aim())
    return task.evaluate(graphs)


def cost(graphs: DenseGraphs, **keywords: Any) -> float:
    return float(judged(graphs, **keywords).cost)


def test_what_is_found_about_a_graph() -> None:
    graphs = stack([graph(5, PATH), graph(5, [(0, 1), (2, 3)]), graph(5, [(0, 1)])])
    found = judged(graphs, 0.25)
    assert found.score.tolist() == pytest.approx([0.25] * 3)
    assert found.edges.tolist() == [3.0, 2.0, 1.0]
    assert found.nodes.tolist() == pytest.approx([4.0, 4.0, 2.0])
    assert found.feasible.tolist() == [True, False, False]
    assert found.similarity.tolist() == [1.0] * 3


def test_probability_counts_by_its_logarithm_up_to_certainty() -> None:
    one = graph(5, PATH)
    enough = aim().enough
    sure, surer = (cost(one, probability=p) for p in (enough + (1 - enough) / 4, SURE))
    assert sure == pytest.approx(surer)
    for p in (0.9, 0.5, 0.01):
        expected = WEIGHT["certainty"] * (math.log(enough) - math.log(p))
        assert cost(one, probability=p) - sure == pytest.approx(expected)


def test_size_counts_by_the_share_of_the_limit() -> None:
    after = aim(max_edges=10.0)
    triangle, pair = graph(5, [(0, 1), (1, 2), (0, 2)]), graph(5, [(0, 1), (1, 2)])
    difference = cost(triangle, after=after) - cost(pair, after=after)
    assert difference == pytest.approx(WEIGHT["size"] * 0.1)


@pytest.mark.parametrize(("limit", "excess"), [(2.0, 0.5), (3.0, 0.0), (4.0, 0.0)])
def test_edges_over_the_limit_count_by_their_share(limit: float, excess: float) -> None:
    after = aim(max_edges=limit)
    found = judged(graph(5, PATH), after=after)
    size = WEIGHT["size"] * 3 / limit
    over = excess + (OVER_LIMIT if excess else 0)
    assert float(found.cost) == pytest.approx(WEIGHT["wholeness"] * over + size)
    assert bool(found.feasible) == (excess == 0)


def test_nodes_over_the_limit_count_too() -> None:
    within, over = (cost(graph(5, PATH), after=aim(max_nodes=n)) for n in (4, 2))
    assert over - within == pytest.approx(WEIGHT["wholeness"] * (1 + OVER_LIMIT))


def test_a_graph_over_its_limit_by_less_than_an_edge_gives_way_to_one_within() -> None:
    after = aim(max_edges=2.95)
    over, within = (cost(graph(5, PATH[:n]), after=after) for n in (3, 2))
    assert over - within > WEIGHT["certainty"] * 0.004


def test_every_loose_node_costs_and_being_in_pieces_at_all_does() -> None:
    whole = cost(graph(8, [(0, 1), (1, 2), (1, 3)]))
    pieces = cost(graph(8, [(0, 1), (1, 2), (3, 4)]))
    more = cost(graph(8, [(0, 1), (1, 2), (3, 4), (5, 6)]))
    assert pieces - whole > more - pieces > 0


def test_less_than_three_nodes_is_too_little() -> None:
    found = judged(graph(5, [(0, 1)]))
    size = WEIGHT["size"] / 100
    assert float(found.cost) == pytest.approx(WEIGHT["wholeness"] + size)
    assert not bool(found.feasible)


@pytest.mark.parametrize(
    ("embedding", "cosine"), [([1.0, 0.0], 1.0), ([3.0, 4.0], 0.6), ([-1.0, 0.0], -1.0)]
)
def test_similarity_counts_below_that_of_the_class_in_units_of_its_spread(
    embedding: list[float], cosine: float
) -> None:
    after = aim(mean=[2.0, 0.0], similarity=0.8)
    found = judged(graph(5, PATH), after=after, embedding=embedding)
    assert float(found.similarity) == pytest.approx(cosine)
    behind = max(0.8 - cosine, 0.0) / (1 - 0.8 + 1e-3)
    unlike = math.log1p(behind) + UNLIKE * (behind > 0)
    expected = WEIGHT["embedding similarity"] * unlike + WEIGHT["size"] * 0.03
    assert float(found.cost) == pytest.approx(expected)


def test_no_edge_is_saved_at_the_expense_of_likeness() -> None:
    after = aim(mean=[1.0, 0.0], similarity=0.6, max_edges=6.0)
    large = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
    enough = cost(graph(7, large), after=after, embedding=[3.0001, 4.0])
    barely_short = cost(graph(7, PATH[:2]), after=after, embedding=[2.9999, 4.0])
    assert enough < barely_short < enough + 1.0


def test_probability_comes_first_then_structure_then_likeness_then_size() -> None:
    after = aim(mean=[1.0, 0.0], similarity=0.9, max_edges=6.0)
    alike, unlike = [1.0, 0.0], [0.0, 1.0]
    large = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
    small_and_unlike = cost(graph(7, PATH[:2]), after=after, embedding=unlike)
    large_and_alike = cost(graph(7, large), after=after, embedding=alike)
    pieces = cost(graph(7, [(0, 1), (1, 2), (3, 4)]), after=after, embedding=alike)
    unsure = cost(graph(7, large), probability=0.9, after=after, embedding=alike)
    assert large_and_alike < small_and_unlike < pieces < unsure


def test_a_graph_without_a_score_is_the_worst_there_is() -> None:
    def logits(graphs: DenseGraphs) -> Tensor:
        scores = torch.tensor([[0.0, 40.0]]).double().repeat(len(graphs), 1)
        scores[graphs.empty] = torch.nan
        return scores

    graphs = stack([graph(4, []), graph(4, [(0, 1)])])
    task = Problem(Oracle(logits), None, OBJECTIVE, aim(mean=[1.0, 1.0]))
    found = task.evaluate(graphs)
    assert torch.isfinite(found.cost).all()
    assert found.cost[0] > found.cost[1]
    assert found.score[0] < 1e-30
    assert found.similarity[0] == -1


def test_native_and_relaxed_models_judge_alike() -> None:
    classifier = degree_classifier()
    graphs = random_graphs(
        PLAIN, 12, 6, torch.Generator().manual_seed(0), dtype=torch.float64, absent=2
    )
    graphs = stack([graphs, graph(6, [])])
    after = aim(1, mean=[1.0], max_edges=4.0, similarity=0.5)
    native = Problem(classifier, None, OBJECTIVE, after).evaluate(graphs)
    relaxed = Problem(classifier, RelaxedModel(classifier), OBJECTIVE, after).evaluate(graphs)
    for name, value in vars(native).items():
        assert torch.allclose(getattr(relaxed, name).double(), value.double()), name


@pytest.mark.parametrize(
    ("layer", "readout", "products"),
    [
        (gnn.GCNConv(1, 4), gnn.global_mean_pool, True),
        (gnn.GCNConv(1, 4), gnn.global_max_pool, False),
        (gnn.SAGEConv(1, 4), gnn.global_add_pool, True),
        (gnn.SAGEConv(1, 4, aggr="max"), gnn.global_add_pool, False),
        (gnn.GATConv(1, 4), gnn.global_add_pool, False),
        (gnn.TAGConv(1, 4), gnn.global_add_pool, False),
    ],
    ids=["GCN", "GCN, max readout", "SAGE", "SAGE, max", "GAT", "no kernel"],
)
def test_the_relaxed_model_is_asked_where_it_takes_only_products(
    layer: nn.Module, readout: Any, products: bool
) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = layer, nn.Linear(4, 2)

        def forward(self, data: Any) -> Tensor:
            return self.head(readout(self.conv(data.x, data.edge_index).relu(), data.batch))

    classifier = GraphClassifier(Model().double(), PLAIN)
    relaxed = RelaxedModel(classifier)
    graphs = stack([graph(5, PATH), graph(5, [(0, 1), (1, 2), (2, 0)])])
    relaxed(graphs)
    assert relaxed.products_only == products
    task = Problem(classifier, relaxed, OBJECTIVE, aim(1))
    assert task.asks_native == (not products)
    native = Problem(classifier, None, OBJECTIVE, aim(1)).evaluate(graphs)
    assert torch.allclose(task.evaluate(graphs).cost, native.cost)


def test_the_slope_is_that_of_the_terms_that_can_be_differentiated() -> None:
    classifier = degree_classifier()
    task = Problem(classifier, RelaxedModel(classifier), OBJECTIVE, aim(1))
    graphs = stack([graph(5, PATH), graph(5, [(0, 1), (1, 2), (2, 0)])])
    weight = graphs.weight.clone().requires_grad_()
    soft = task.slope(DenseGraphs(PLAIN, weight, graphs.nodes))
    # Both graphs are whole, which is the one thing without a slope.
    assert torch.allclose(soft, task.evaluate(graphs).cost)
    gradient = torch.autograd.grad(soft.sum(), weight)[0]
    # More edges bring the path closer to the dense class.
    assert gradient[0, 0, 2] < 0


def test_the_mean_over_samples_is_that_of_the_model() -> None:
    classifier = degree_classifier()
    task = Problem(classifier, None, OBJECTIVE, aim(1))
    of = distribution(PLAIN, 5, restarts=3, seed=2)
    found = task.mean_score(of, 40, Streams(1, 3))
    drawn = of.discrete(40, Streams(1, 3))
    expected = classifier.probability(drawn, 1).view(3, 40).mean(1)
    assert torch.allclose(found, expected)


def test_a_model_that_fails_in_the_middle_of_a_search_is_told() -> None:
    def fails(_: DenseGraphs) -> Scores:
        raise RuntimeError("too many edges")

    problem = Problem(degree_classifier(), fails, OBJECTIVE, aim())
    with pytest.raises(ModelError, match=r"the model failed on graphs .* too many edges"):
        problem.soft_scores(stack([graph(4, PATH)]))
    with fixed_shapes(), pytest.raises(RuntimeError, match="too many edges"):
        problem.soft_scores(stack([graph(4, PATH)]))  # as recording wants to know it
