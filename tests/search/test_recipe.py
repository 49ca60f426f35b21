"""Recipes: the paper's numbers as its tables have them, rules between fields, sizes of graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

import gnninterpreter as gi
from gnninterpreter.errors import SpecError, TargetError
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import ClassLogProbability
from gnninterpreter.search import Constant, Recipe, WeightedTerm
from gnninterpreter.search.recipe import DEFAULT_NODES, MOST_NODES, PAPER_WEIGHTS
from gnninterpreter.spec import GraphSpec

# Table "The regularization weights" of the paper: L1, L2, budget, connectivity.
TABLE = {
    ("mutag", "Mutagen"): (10, 5, 20, 1),
    ("mutag", "Nonmutagen"): (5, 2, 10, 2),
    ("cyclicity", "Red Cyclic"): (10, 5, 10000, 100),
    ("cyclicity", "Green Cyclic"): (10, 5, 2000, 50),
    ("cyclicity", "Acyclic"): (10, 2, 5000, 50),
    ("motif", "House"): (1, 1, 5000, 0),
    ("motif", "House-X"): (5, 2, 2000, 0),
    ("motif", "Complete-4"): (10, 5, 10000, 1),
    ("motif", "Complete-5"): (10, 5, 10000, 5),
    ("shape", "Lollipop"): (5, 5, 1, 5),
    ("shape", "Wheel"): (10, 5, 10, 0),
    ("shape", "Grid"): (1, 1, 2, 0),
    ("shape", "Star"): (10, 2, 200, 0),
    ("is_acyclic", "Cyclic"): (0, 0, 500, 0),
    ("is_acyclic", "Acyclic"): (1, 5, 500, 5),
    ("color_consistency", "Consistent"): (1, 1, 50, 1),
    ("color_consistency", "Inconsistent"): (0, 0, 50, 1),
}
ONE_TERM = (WeightedTerm(ClassLogProbability(), Constant(1.0)),)


def weights(recipe: Recipe, iteration: int) -> dict[str, float]:
    return {w.term.name: w.weight(iteration, recipe.iterations) for w in recipe.terms}


@pytest.mark.parametrize(("dataset", "target"), TABLE)
def test_the_paper_s_table_of_weights(dataset: str, target: str) -> None:
    l1, l2, budget, connectivity = TABLE[dataset, target]
    recipe = Recipe.paper(dataset, target)
    mu = 10.0 if dataset == "mutag" else 1.0
    for iteration, warmth in ((0, 0.0), (125, 0.25), (500, 1.0), (1999, 1.0)):
        assert weights(recipe, iteration) == {
            "class score": 1.0,
            "embedding similarity": mu,
            "L1": l1,
            "L2": l2,
            "budget": budget * warmth,
            "connectivity": connectivity,
        }


def test_there_is_no_weight_that_the_paper_does_not_have() -> None:
    listed = {(data, target) for data, rows in PAPER_WEIGHTS.items() for target in rows}
    assert listed == {(data, target.lower()) for data, target in TABLE}


@pytest.mark.parametrize("dataset", sorted({data for data, _ in TABLE}))
def test_the_paper_s_settings(dataset: str) -> None:
    target = next(target for data, target in TABLE if data == dataset)
    recipe = Recipe.paper(dataset, target)
    assert recipe.name == "paper"
    assert (recipe.optimizer, recipe.learning_rate) == ("sgd", 1.0)
    assert recipe.samples == 10
    assert {recipe.temperature(i, recipe.iterations) for i in (0, 100, 1999)} == {0.2}
    assert recipe.start == "uniform"
    assert not recipe.refine
    assert not recipe.settle
    assert recipe.max_nodes is not None
    assert recipe.max_edges is not None


def test_class_names_of_bundled_models_are_found_in_the_table() -> None:
    for name in gi.models.bundled_names():
        spec = gi.models.load(name).spec
        known = [target for target in spec.class_names if target != "others"]
        assert len(known) >= 2
        for target in known:
            assert Recipe.paper(name, target).name == "paper"


@pytest.mark.parametrize(
    ("dataset", "target"), [("shape", "others"), ("shape", "house"), ("None", "wheel")]
)
def test_what_the_paper_does_not_have_is_refused(dataset: str, target: str) -> None:
    with pytest.raises(TargetError, match=f"no weights for class '{target}' of '{dataset}'") as got:
        Recipe.paper(dataset, target)
    assert "shape: lollipop, wheel, grid, star" in str(got.value)


def test_fields_of_a_recipe_can_be_set_by_hand() -> None:
    recipe = Recipe.paper("shape", "wheel", iterations=7, max_nodes=9)
    assert (recipe.iterations, recipe.max_nodes, recipe.learning_rate) == (7, 9, 1.0)
    assert Recipe.auto(samples=3).samples == 3
    with pytest.raises(TypeError, match="temprature"):
        Recipe.auto(temprature=1.0)


def test_auto_is_the_same_for_every_class_and_wants_more_than_the_paper() -> None:
    assert Recipe.auto() == Recipe.auto()
    recipe = Recipe.auto()
    assert recipe.name == "auto"
    assert recipe.refine
    assert recipe.settle
    assert (recipe.max_nodes, recipe.max_edges) == (None, None)
    assert weights(recipe, recipe.iterations)["class log-probability"] > 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"optimizer": "lbfgs"}, r"optimizer must be 'adam' or 'sgd' \(got 'lbfgs'\)"),
        ({"start": "dense"}, r"start must be 'anneal', 'density' or 'uniform' \(got 'dense'\)"),
        ({"iterations": 0}, r"iterations must be at least 1 \(got 0\)"),
        ({"samples": 0}, r"samples must be at least 1 \(got 0\)"),
        ({"check_every": -2}, r"check_every must be at least 1 \(got -2\)"),
        ({"learning_rate": 0.0}, r"learning_rate must be positive \(got 0.0\)"),
        ({"learning_rate": float("nan")}, r"learning_rate must be positive \(got nan\)"),
        ({"max_nodes": 1}, r"max_nodes must be at least 2 \(got 1\)"),
        ({"max_edges": 0.5}, r"max_edges must be at least 1 \(got 0.5\)"),
        ({"terms": ()}, r"terms must hold one that looks at the model's scores.*\(got \[\]\)"),
    ],
)
def test_rules_are_checked_once(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        replace(Recipe("mine", ONE_TERM), **fields)


def statistics(nodes: float, edges: float, count: float = 5.0) -> ClassStatistics:
    """Statistics of one class."""

    def each(value: float) -> torch.Tensor:
        return torch.tensor([value])

    return ClassStatistics(
        each(count), torch.ones(1, 2), each(nodes), each(edges), each(1.0), each(0.1),
        torch.linspace(0, 1, 101).unsqueeze(0), each(1.0),
    )  # fmt: skip


def test_sizes_come_from_the_class() -> None:
    sizes = Recipe.auto().sizes(GraphSpec(), statistics(11.2, 17.5), 0)
    assert sizes.candidates == sizes.max_nodes == 12
    assert sizes.max_edges == pytest.approx(17.5)


def test_large_and_small_classes_are_bounded() -> None:
    large = Recipe.auto().sizes(GraphSpec(), statistics(500.0, 900.0), 0)
    assert large.candidates == MOST_NODES
    assert large.max_edges <= MOST_NODES * (MOST_NODES - 1) / 2
    small = Recipe.auto().sizes(GraphSpec(), statistics(2.0, 1.0), 0)
    assert small.candidates >= 3
    assert small.max_edges >= 2


def test_no_more_edges_than_pairs_of_nodes() -> None:
    recipe = Recipe.auto(max_nodes=4, max_edges=50)
    assert recipe.sizes(GraphSpec(), None, 0).max_edges == 6
    assert recipe.sizes(GraphSpec(directed=True), None, 0).max_edges == 12


def test_what_is_set_by_hand_goes_before_what_is_known() -> None:
    known = statistics(11.0, 17.0)
    spec = GraphSpec(max_nodes=9)
    assert Recipe.auto().sizes(spec, known, 0).candidates == 9
    assert Recipe.auto(max_nodes=7).sizes(spec, known, 0).candidates == 7
    assert Recipe.auto(max_edges=5).sizes(spec, known, 0).max_edges == 5


@pytest.mark.parametrize("known", [None, statistics(11.0, 17.0, count=0.0)])
def test_without_statistics_there_are_defaults(known: ClassStatistics | None) -> None:
    sizes = Recipe.auto().sizes(GraphSpec(), known, 0)
    assert sizes.candidates == sizes.max_nodes == DEFAULT_NODES
    assert 0 < sizes.max_edges <= DEFAULT_NODES * (DEFAULT_NODES - 1) / 2
