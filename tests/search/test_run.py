"""One class from start to finish, with small real models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
import torch
from gnninterpreter.search.search import _final_reason

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Look, Reason, Recipe, SearchResult, search
from gnninterpreter.spec import GraphSpec
from tests.tiny import degree_classifier, trained_shapes

CLASSES = ("cycle", "star", "complete")


@lru_cache(maxsize=1)
def shapes_classifier() -> tuple[GraphClassifier, ClassStatistics]:
    model, graphs = trained_shapes()
    spec = GraphSpec.from_dataset(graphs, class_names=CLASSES)
    classifier = GraphClassifier(model, spec, examples=graphs)
    return classifier, ClassStatistics.from_dataset(classifier, graphs)


def found(
    target: int = 2, restarts: int = 2, seed: int = 0, *, relax: bool = True, **fields: Any
) -> SearchResult:
    classifier, statistics = shapes_classifier()
    callbacks = fields.pop("callbacks", ())
    recipe = replace(Recipe.auto(), **{"iterations": 40, "start": "density", **fields})
    return searched(classifier, statistics, target, recipe, restarts, seed, callbacks, relax)


def searched(
    classifier: GraphClassifier,
    statistics: ClassStatistics | None,
    target: int,
    recipe: Recipe,
    restarts: int = 1,
    seed: int = 0,
    callbacks: tuple[Callable[[Look], Any], ...] = (),
    relax: bool = True,
) -> SearchResult:
    """Search with the model borrowed once for all calls, as `explain` does."""
    relaxed = RelaxedModel(classifier)
    with relaxed.session():
        return search(
            classifier, relaxed if relax else None, statistics, target, recipe, restarts, seed,
            callbacks,
        )  # fmt: skip


@pytest.mark.parametrize("relax", [True, False], ids=["relaxed", "score-function"])
@pytest.mark.parametrize("target", range(3), ids=CLASSES)
def test_a_class_is_reached_by_either_gradient(target: int, relax: bool) -> None:
    result = found(target, relax=relax)
    classifier, _ = shapes_classifier()
    assert result.gradient == ("relaxed" if relax else "score-function")
    best = result.ranking()[0]
    assert result.reasons[best] == Reason.CONVERGED
    assert float(result.mean_probability[best]) >= 0.99
    mode = result.distribution.select([best]).mode()
    assert float(classifier.probability(mode, target)) > 0.99
    assert bool(mode.connected())
    assert float(mode.num_edges) <= result.sizes.max_edges


def test_the_recipe_as_it_comes_reaches_a_class() -> None:
    classifier, statistics = shapes_classifier()
    result = searched(classifier, statistics, 1, Recipe.auto())
    assert result.reasons == [Reason.CONVERGED]


def test_numbers_are_those_of_the_native_model_on_discrete_graphs() -> None:
    result = found(restarts=3)
    classifier, _ = shapes_classifier()
    modes = result.distribution.mode()
    assert torch.allclose(result.judgement.probability, classifier.probability(modes, 2), atol=1e-4)
    assert torch.equal(result.judgement.edges, modes.num_edges)
    assert result.mean_probability.shape == (3,)
    assert len(result.reasons) == len(result.iterations) == 3
    assert result.seconds > 0


def test_the_same_seed_gives_the_same_and_another_seed_something_else() -> None:
    one, again, other = found(seed=1), found(seed=1), found(seed=2)
    assert torch.equal(one.distribution.edge_logits, again.distribution.edge_logits)
    assert torch.equal(one.mean_probability, again.mean_probability)
    assert not torch.equal(one.distribution.edge_logits, other.distribution.edge_logits)


def test_each_class_has_random_numbers_of_its_own() -> None:
    first: list[torch.Tensor] = []

    def look(seen: Look) -> None:
        first.append(seen.distribution.edge_logits.flatten().clone())

    for target in (0, 1):
        found(target, start="uniform", iterations=1, refine=False, callbacks=(look,))
    shared = min(len(logits) for logits in first)
    pair = torch.stack([logits[:shared] for logits in first])
    assert abs(float(torch.corrcoef(pair)[0, 1])) < 0.5


def test_a_restart_comes_to_the_same_whatever_their_number() -> None:
    classifier = degree_classifier()

    def edges(restarts: int) -> torch.Tensor:
        recipe = Recipe.auto(iterations=10, max_nodes=6, check_every=5, start="density")
        return searched(classifier, None, 1, recipe, restarts, 3).distribution.edge_logits

    five = edges(5)
    for restarts in (1, 2):
        assert torch.allclose(edges(restarts), five[:restarts], rtol=0, atol=1e-9)


def test_callbacks_see_the_phases_in_order() -> None:
    seen: list[Look] = []
    found(callbacks=(seen.append,))
    phases = list(dict.fromkeys(look.phase for look in seen))
    assert phases[-3:] == ["search", "refine", "settle"]
    assert all(look.probability.shape == look.edges.shape == (2,) for look in seen)
    assert [look.iteration for look in seen if look.phase == "search"][-1] <= 40


@pytest.mark.parametrize("phase", ["walk", "search", "refine", "settle"])
def test_a_stop_is_obeyed_in_every_phase(phase: str) -> None:
    heard: list[str] = []

    def stop(look: Look) -> bool:
        heard.append(look.phase)
        return look.phase == phase

    fields = {"start": "anneal", "walk_steps": 40, "check_every": 5}
    result = found(0, callbacks=(stop,), **fields)
    assert heard.count(phase) == 1
    assert heard[-1] == phase
    assert result.distribution.restarts == len(result.reasons) == 2
    if phase == "walk":
        assert result.iterations == [0, 0]


def test_a_stopped_search_says_so_where_it_has_found_nothing() -> None:
    def stop(look: Look) -> bool:
        return True

    result = found(0, start="uniform", check_every=1, refine=False, settle=False, callbacks=(stop,))
    assert result.reasons == [Reason.STOPPED] * 2
    assert result.iterations == [1, 1]


def test_local_search_without_settling_still_moves_the_mode() -> None:
    result = found(1, settle=False, iterations=10)
    classifier, _ = shapes_classifier()
    modes = result.distribution.mode()
    assert torch.equal(modes.num_edges, result.judgement.edges)
    assert torch.allclose(classifier.probability(modes, 1), result.judgement.probability, atol=1e-4)
    settled = found(1, iterations=10)
    assert (settled.mean_probability >= result.mean_probability - 0.01).all()


def test_without_statistics_there_is_no_embedding_to_be_like() -> None:
    classifier, _ = shapes_classifier()
    recipe = Recipe.auto(iterations=20, max_nodes=7, start="density")
    result = searched(classifier, None, 2, recipe)
    assert result.judgement.similarity.tolist() == [1.0]
    assert float(result.judgement.probability) > 0.9
    assert result.sizes.max_nodes == 7


def test_restarts_are_ranked_by_cost_and_by_what_their_samples_lack() -> None:
    result = found(restarts=3)
    cost = torch.tensor([3.0, 1.0, 2.0])
    judgement = replace(result.judgement, cost=cost)
    level = replace(result, judgement=judgement, mean_probability=torch.tensor([1.0, 0.995, 1.0]))
    assert level.ranking() == [1, 2, 0]
    lacking = replace(level, mean_probability=torch.tensor([1.0, 0.5, 1.0]))
    assert lacking.ranking() == [2, 0, 1]


def test_the_paper_s_recipe_runs_as_it_is_written() -> None:
    recipe = Recipe.paper("shape", "star", iterations=30, max_nodes=8, max_edges=10)
    classifier, statistics = shapes_classifier()
    result = searched(classifier, statistics, 1, recipe, restarts=2)
    assert result.sizes.candidates == 8
    names = set(result.history.terms[-1])
    # Without connectivity, whose weight is 0 for this class.
    assert names == {"class score", "embedding similarity", "L1", "L2", "budget"}


AUTO, PAPER = Recipe.auto(), Recipe.paper("shape", "star")


@pytest.mark.parametrize(
    ("recipe", "reason", "mean", "over", "sound", "expected"),
    [
        (AUTO, Reason.PLATEAU, 0.995, False, True, Reason.CONVERGED),
        (AUTO, Reason.NON_FINITE, 0.995, False, True, Reason.CONVERGED),
        (AUTO, Reason.STOPPED, 0.995, False, True, Reason.CONVERGED),
        (AUTO, Reason.CONVERGED, 0.5, False, True, Reason.PLATEAU),
        (AUTO, Reason.PLATEAU, 0.995, False, False, Reason.PLATEAU),
        (AUTO, Reason.PLATEAU, 0.995, True, False, Reason.BUDGET_NOT_MET),
        (AUTO, Reason.NON_FINITE, 0.5, False, True, Reason.NON_FINITE),
        (AUTO, Reason.STOPPED, 0.5, True, False, Reason.STOPPED),
        (PAPER, Reason.PLATEAU, 0.95, False, False, Reason.CONVERGED),
        (PAPER, Reason.PLATEAU, 0.95, True, False, Reason.BUDGET_NOT_MET),
        (PAPER, Reason.CONVERGED, 0.2, False, True, Reason.PLATEAU),
    ],
)
def test_the_last_word_on_why_a_restart_ended(
    recipe: Recipe, reason: Reason, mean: float, over: bool, sound: bool, expected: Reason
) -> None:
    assert _final_reason(reason, mean, over, sound, recipe) == expected
