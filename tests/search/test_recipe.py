"""Recipes: the paper's numbers as its tables have them, rules between fields, sizes of graphs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import gnninterpreter as gi
from gnninterpreter.errors import SpecError, TargetError
from gnninterpreter.models.profile import MOST_NODES, Profile
from gnninterpreter.objective import Certainty, Size, Term, Weighted
from gnninterpreter.search import Ascent, LocalSearch, Recipe
from gnninterpreter.search.paper_settings import PAPER_WEIGHTS
from gnninterpreter.search.recipe import DEFAULT_NODES
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
ONE_TERM = (Weighted(Certainty()),)


def weights(recipe: Recipe, iteration: int) -> dict[str, float]:
    iterations = recipe.phase("gradient").iterations
    return {w.term.name: w.soft_weight(iteration, iterations) for w in recipe.terms}


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
    (gradient,) = recipe.phases
    assert isinstance(gradient, Ascent)
    assert (gradient.optimizer, gradient.learning_rate) == ("sgd", 1.0)
    assert (gradient.samples, gradient.keep) == (10, "last")
    assert {gradient.temperature(i, gradient.iterations) for i in (0, 100, 1999)} == {0.2}
    assert recipe.start == "uniform"
    assert recipe.max_nodes is not None
    assert recipe.max_edges is not None


def test_class_names_of_bundled_models_are_found_in_the_table() -> None:
    for name in gi.models.bundled_names():
        if name in gi.datasets.MOLECULES:
            continue
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


def test_the_names_of_data_sets_are_read_kindly() -> None:
    assert Recipe.paper("Shape", "Star") == Recipe.paper("shape", "star")
    assert Recipe.paper("Is-Acyclic", "cyclic") == Recipe.paper("is_acyclic", "Cyclic")


def test_settings_of_a_recipe_and_of_its_phases_can_be_set_by_hand() -> None:
    recipe = Recipe.paper("shape", "wheel", iterations=7, max_nodes=9)
    gradient = recipe.phase("gradient")
    assert (gradient.iterations, recipe.max_nodes, gradient.learning_rate) == (7, 9, 1.0)
    assert Recipe.auto(samples=3).phase("gradient").samples == 3
    with pytest.raises(SpecError, match="'temprature' is no setting of a recipe; the settings are"):
        Recipe.auto(temprature=1.0)
    with pytest.raises(SpecError, match="'steps' is a setting of several phases"):
        Recipe.auto(steps=3)
    with pytest.raises(SpecError, match="has no phase 'search'; it has shrink, anneal, gradient"):
        Recipe.auto().phase("search")


def test_a_phase_that_is_left_out_takes_no_other_with_it() -> None:
    names = [phase.name for phase in Recipe.auto().phases]
    looking = ["anneal", "gradient", "local search", "iterated search", "calibrate"]
    assert names == ["shrink", *looking, "spread", "shortcuts"]
    assert [phase.name for phase in Recipe.certain().phases] == looking
    for name in names:
        left = [phase.name for phase in Recipe.auto().without(name).phases]
        assert left == [other for other in names if other != name]


def test_auto_is_the_same_for_every_class_and_wants_more_than_the_paper() -> None:
    assert Recipe.auto() == Recipe.auto()
    recipe = Recipe.auto()
    assert recipe.name == "auto"
    assert recipe.stop_score > Recipe.paper("shape", "star").stop_score
    assert (recipe.max_nodes, recipe.max_edges) == (None, None)
    assert weights(recipe, 120)["certainty"] > 0
    # A possible molecule, certain, then whole, then like the class, then small.
    order = [w.discrete for w in recipe.terms if w.term.name != "entropy"]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"optimizer": "lbfgs"}, r"optimizer must be one of adam, sgd \(got 'lbfgs'\)"),
        ({"start": "dense"}, r"start must be one of density, uniform \(got 'dense'\)"),
        ({"keep": "first"}, r"keep must be one of best, last \(got 'first'\)"),
        ({"iterations": 0}, r"iterations must be at least 1 \(got 0\)"),
        ({"iterations": 2.5}, r"iterations must be a whole number \(got 2.5\)"),
        ({"iterations": True}, r"iterations must be a whole number \(got True\)"),
        ({"tries": 0}, r"tries must be at least 1 \(got 0\)"),
        ({"samples": 0}, r"samples must be at least 1 \(got 0\)"),
        ({"check_every": -2}, r"check_every must be at least 1 \(got -2\)"),
        ({"learning_rate": 0.0}, r"learning_rate must be positive \(got 0.0\)"),
        ({"learning_rate": float("nan")}, r"learning_rate must be positive \(got nan\)"),
        ({"learning_rate": float("inf")}, r"learning_rate must be positive \(got inf\)"),
        ({"stop_score": 7}, r"stop_score must be above 0 and at most 1 \(got 7\)"),
        ({"max_nodes": 1}, r"max_nodes must be at least 2 \(got 1\)"),
        ({"max_nodes": "x"}, r"max_nodes must be a whole number \(got 'x'\)"),
        ({"max_edges": 0.5}, r"max_edges must be at least 1 \(got 0.5\)"),
        ({"terms": ()}, r"terms is empty; an objective needs at least one"),
        ({"terms": (*ONE_TERM, *ONE_TERM)}, r"terms must have different names"),
        ({"phases": (Ascent(), Ascent())}, r"phases must have different names"),
        ({"phases": ("anneal",)}, r"a phase must be callable .* \(got 'anneal'\)"),
    ],
)
def test_rules_are_checked_once(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Recipe.auto(**fields)


def test_settings_of_one_of_several_phases_are_checked() -> None:
    with pytest.raises(SpecError, match=r"walkers must be at least 1 \(got 0\)"):
        Recipe.auto().with_phase("anneal", walkers=0)


def test_weights_of_terms_are_checked() -> None:
    with pytest.raises(SpecError, match=r"discrete weight .* must be .* from 0 .*\(got -1\)"):
        Weighted(Certainty(), discrete=-1)
    with pytest.raises(SpecError, match=r"must be a subclass of .*Term \(got str\)"):
        Weighted("certainty")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe.auto(),
        Recipe.auto(iterations=7, max_nodes=9).without("calibrate"),
        Recipe.paper("motif", "house"),
        Recipe("mine", ONE_TERM, (LocalSearch(steps=3),), stop_score=0.5),
    ],
    ids=lambda recipe: recipe.name,
)
def test_a_recipe_is_stored_whole_and_read_back_the_same(recipe: Recipe) -> None:
    stored = json.loads(json.dumps(recipe.to_json()))
    assert Recipe.from_json(stored) == recipe
    assert len(stored["phases"]) == len(recipe.phases)


class Mine(Term):
    """A term that is not the library's."""


def test_a_recipe_with_parts_of_a_user_is_told_but_not_built_again() -> None:
    stored = Recipe.auto().adding(Mine()).to_json()
    assert stored["terms"][-1]["term"]["class"] == "Mine"
    with pytest.raises(SpecError, match="'Mine', which the library does not have"):
        Recipe.from_json(stored)
    with pytest.raises(SpecError, match="this is no recipe"):
        Recipe.from_json({"class": "Size"})
    with pytest.raises(SpecError, match="a stored Size cannot be read"):
        Recipe.from_json({"class": "Size", "colour": 3})
    assert Size().name == "size"


def profile(nodes: float, edges: float) -> Profile:
    return Profile(5, nodes, edges)


def test_sizes_come_from_the_class() -> None:
    sizes = Recipe.auto().limits(GraphSpec(), profile(11.2, 17.5))
    assert sizes.max_nodes == 12
    assert sizes.max_edges == pytest.approx(17.5)


def test_large_and_small_classes_are_bounded() -> None:
    large = Recipe.auto().limits(GraphSpec(), profile(500.0, 900.0))
    assert large.max_nodes == MOST_NODES
    assert large.max_edges <= MOST_NODES * (MOST_NODES - 1) / 2
    small = Recipe.auto().limits(GraphSpec(), profile(2.0, 1.0))
    assert small.max_nodes >= 3
    assert small.max_edges >= 2


def test_no_more_edges_than_pairs_of_nodes() -> None:
    recipe = Recipe.auto(max_nodes=4, max_edges=50)
    assert recipe.limits(GraphSpec(), None).max_edges == 6
    assert recipe.limits(GraphSpec(directed=True), None).max_edges == 12


def test_what_is_set_by_hand_goes_before_what_is_known() -> None:
    known = profile(11.0, 17.0)
    spec = GraphSpec(max_nodes=9)
    assert Recipe.auto().limits(spec, known).max_nodes == 9
    assert Recipe.auto(max_nodes=7).limits(spec, known).max_nodes == 7
    assert Recipe.auto(max_edges=5).limits(spec, known).max_edges == 5


def test_without_statistics_there_are_defaults() -> None:
    limits = Recipe.auto().limits(GraphSpec(), None)
    assert limits.max_nodes == DEFAULT_NODES
    assert 0 < limits.max_edges <= DEFAULT_NODES * (DEFAULT_NODES - 1) / 2


@pytest.mark.parametrize(
    ("recipe", "call"),
    [
        (Recipe.auto(), "'auto'"),
        (Recipe.certain(), "'certain'"),
        (Recipe.auto(iterations=7, max_nodes=9), "gi.Recipe.auto(max_nodes=9, iterations=7)"),
        (Recipe.certain(stop_score=0.5), "gi.Recipe.certain(stop_score=0.5)"),
        (Recipe.auto().without("spread"), "gi.Recipe.from_json(result.metadata['recipes'][0])"),
        (Recipe.auto().adding(Mine()), "gi.Recipe.from_json(result.metadata['recipes'][0])"),
    ],
)
def test_a_recipe_says_how_to_make_it_again(recipe: Recipe, call: str) -> None:
    assert recipe.call() == call
    if call.startswith("gi.") and "json" not in call:
        assert eval(call, {"gi": gi}) == recipe
