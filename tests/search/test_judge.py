"""The judge: every component of the cost by hand, and their order of importance."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn

from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.objective import Goal
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Judge, Judgement
from gnninterpreter.search import judge as module
from tests.tiny import PLAIN, Oracle, degree_classifier, goal, graph, stack

PATH = [(0, 1), (1, 2), (2, 3)]
SURE = 1 - 1e-9


class Answers(GraphClassifier):
    """A classifier with the same answers for every graph."""

    def __init__(self, probability: float, embedding: list[float] | None = None) -> None:
        self.logits = torch.tensor([[math.log(probability), math.log(1 - probability)]]).double()
        self.embedding = torch.tensor([embedding or [1.0, 0.0]]).double()

    def score(self, graphs: DenseGraphs, chunk: int = 512) -> Scores:
        return Scores(self.logits.expand(len(graphs), -1), self.embedding.expand(len(graphs), -1))


def judged(
    graphs: DenseGraphs, probability: float = SURE, aim: Goal | None = None,
    embedding: list[float] | None = None,
) -> Judgement:  # fmt: skip
    judge = Judge(Answers(probability, embedding), None)
    return judge(graphs, aim or goal(len(graphs)))


def cost(graphs: DenseGraphs, **keywords: Any) -> float:
    return float(judged(graphs, **keywords).cost)


def test_what_is_found_about_a_graph() -> None:
    graphs = stack([graph(5, PATH), graph(5, [(0, 1), (2, 3)]), graph(5, [(0, 1)])])
    found = judged(graphs, 0.25)
    assert found.probability.tolist() == pytest.approx([0.25] * 3)
    assert found.edges.tolist() == [3.0, 2.0, 1.0]
    assert found.nodes.tolist() == pytest.approx([4.0, 4.0, 2.0])
    assert found.sound.tolist() == [True, False, False]
    assert found.similarity.tolist() == [1.0] * 3


def test_probability_counts_by_its_logarithm_up_to_certainty() -> None:
    one = graph(5, PATH)
    enough = math.exp(module.CERTAIN)
    sure, surer = (cost(one, probability=p) for p in (enough + (1 - enough) / 4, SURE))
    assert sure == pytest.approx(surer)
    for p in (0.9, 0.5, 0.01):
        expected = module.PROBABILITY_WEIGHT * (module.CERTAIN - math.log(p))
        assert cost(one, probability=p) - sure == pytest.approx(expected)


def test_size_counts_by_the_share_of_the_limit() -> None:
    aim = goal(max_edges=10.0)
    triangle, pair = graph(5, [(0, 1), (1, 2), (0, 2)]), graph(5, [(0, 1), (1, 2)])
    difference = cost(triangle, aim=aim) - cost(pair, aim=aim)
    assert difference == pytest.approx(module.SIZE_WEIGHT * 0.1)


@pytest.mark.parametrize(("limit", "excess"), [(2.0, 0.5), (3.0, 0.0), (4.0, 0.0)])
def test_edges_over_the_limit_count_by_their_share(limit: float, excess: float) -> None:
    aim = goal(max_edges=limit)
    found = judged(graph(5, PATH), aim=aim)
    size = module.SIZE_WEIGHT * 3 / limit
    over = excess + (module.OVER_LIMIT if excess else 0)
    assert float(found.cost) == pytest.approx(module.STRUCTURE_WEIGHT * over + size)
    assert bool(found.sound) == (excess == 0)


def test_nodes_over_the_limit_count_too() -> None:
    within, over = (cost(graph(5, PATH), aim=goal(max_nodes=n)) for n in (4.0, 2.0))
    assert over - within == pytest.approx(module.STRUCTURE_WEIGHT * (1 + module.OVER_LIMIT))


def test_a_graph_over_its_limit_by_less_than_an_edge_gives_way_to_one_within() -> None:
    aim = goal(max_edges=2.95)
    over, within = (cost(graph(5, PATH[:n]), aim=aim) for n in (3, 2))
    assert over - within > module.PROBABILITY_WEIGHT * 0.004


def test_every_loose_node_costs_and_being_in_pieces_at_all_does() -> None:
    whole = cost(graph(8, [(0, 1), (1, 2), (1, 3)]))
    pieces = cost(graph(8, [(0, 1), (1, 2), (3, 4)]))
    more = cost(graph(8, [(0, 1), (1, 2), (3, 4), (5, 6)]))
    assert pieces - whole > more - pieces > 0


def test_less_than_three_nodes_is_too_little() -> None:
    found = judged(graph(5, [(0, 1)]))
    size = module.SIZE_WEIGHT / 100
    assert float(found.cost) == pytest.approx(module.STRUCTURE_WEIGHT + size)
    assert not bool(found.sound)


@pytest.mark.parametrize(
    ("embedding", "cosine"), [([1.0, 0.0], 1.0), ([3.0, 4.0], 0.6), ([-1.0, 0.0], -1.0)]
)
def test_similarity_counts_below_that_of_the_class_in_units_of_its_spread(
    embedding: list[float], cosine: float
) -> None:
    aim = goal(mean=[2.0, 0.0], similarity=0.8)
    found = judged(graph(5, PATH), aim=aim, embedding=embedding)
    assert float(found.similarity) == pytest.approx(cosine)
    behind = max(0.8 - cosine, 0.0) / (1 - 0.8 + 1e-3)
    unlike = math.log1p(behind) + module.UNLIKE * (behind > 0)
    expected = module.SIMILARITY_WEIGHT * unlike + module.SIZE_WEIGHT * 0.03
    assert float(found.cost) == pytest.approx(expected)


def test_no_edge_is_saved_at_the_expense_of_likeness() -> None:
    aim = goal(mean=[1.0, 0.0], similarity=0.6, max_edges=6.0)
    large = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
    enough = cost(graph(7, large), aim=aim, embedding=[3.0001, 4.0])
    barely_short = cost(graph(7, PATH[:2]), aim=aim, embedding=[2.9999, 4.0])
    assert enough < barely_short < enough + 1.0


def test_probability_comes_first_then_structure_then_likeness_then_size() -> None:
    aim = goal(mean=[1.0, 0.0], similarity=0.9, max_edges=6.0)
    alike, unlike = [1.0, 0.0], [0.0, 1.0]
    large = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
    small_and_unlike = cost(graph(7, PATH[:2]), aim=aim, embedding=unlike)
    large_and_alike = cost(graph(7, large), aim=aim, embedding=alike)
    pieces = cost(graph(7, [(0, 1), (1, 2), (3, 4)]), aim=aim, embedding=alike)
    unsure = cost(graph(7, large), probability=0.9, aim=aim, embedding=alike)
    assert large_and_alike < small_and_unlike < pieces < unsure


def test_each_graph_is_judged_against_its_own_goal() -> None:
    aim = Goal(
        torch.tensor([0, 1]), None, torch.tensor([9.0, 9.0]).double(),
        torch.tensor([9.0, 9.0]).double(), torch.tensor([-1.0, -1.0]).double(),
    )  # fmt: skip
    found = judged(stack([graph(5, PATH)] * 2), 0.8, aim)
    assert found.probability.tolist() == pytest.approx([0.8, 0.2])
    assert found.cost[0] < found.cost[1]


def test_a_graph_without_a_score_is_the_worst_there_is() -> None:
    def logits(graphs: DenseGraphs) -> Tensor:
        scores = torch.tensor([[0.0, 40.0]]).double().repeat(len(graphs), 1)
        scores[graphs.empty] = torch.nan
        return scores

    judge = Judge(Oracle(logits), None)
    graphs = stack([graph(4, []), graph(4, [(0, 1)])])
    found = judge(graphs, goal(2, mean=[1.0, 1.0]))
    assert torch.isfinite(found.cost).all()
    assert found.cost[0] > found.cost[1]
    assert found.probability[0] < 1e-30
    assert found.similarity[0] == -1


def test_native_and_relaxed_models_judge_alike() -> None:
    classifier = degree_classifier()
    graphs = random_graphs(
        PLAIN, 12, 6, torch.Generator().manual_seed(0), dtype=torch.float64, absent=2
    )
    graphs = stack([graphs, graph(6, [])])
    aim = goal(13, target=1, mean=[1.0], max_edges=4.0, similarity=0.5)
    native = Judge(classifier, None)(graphs, aim)
    relaxed = Judge(classifier, RelaxedModel(classifier))(graphs, aim)
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
    judge = Judge(classifier, relaxed)
    assert judge.asks_native == (not products)
    native = Judge(classifier, None)(graphs, goal(2, target=1))
    assert torch.allclose(judge(graphs, goal(2, target=1)).cost, native.cost)


def test_soft_cost_is_the_part_of_the_cost_that_the_scores_make() -> None:
    classifier = degree_classifier()
    judge = Judge(classifier, RelaxedModel(classifier))
    graphs = stack([graph(5, PATH), graph(5, [(0, 1), (1, 2), (2, 0)])])
    aim = goal(2, target=1)
    weight = graphs.weight.clone().requires_grad_()
    soft = judge.soft_cost(DenseGraphs(PLAIN, weight, graphs.nodes), aim)
    rest = judge(graphs, aim).cost - soft
    assert rest.tolist() == pytest.approx([module.SIZE_WEIGHT * 0.03] * 2)
    gradient = torch.autograd.grad(soft.sum(), weight)[0]
    # More edges bring the path closer to the dense class.
    assert gradient[0, 0, 2] < 0
