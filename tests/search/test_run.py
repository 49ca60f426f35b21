"""One class from start to finish, with small real models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import pytest
import torch

from gnninterpreter.distribution import from_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import ClassTarget, Proposals, Term, Weighted
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Reason, Recipe, SearchResult, Snapshot, State, search
from gnninterpreter.search.run import _reasons
from gnninterpreter.spec import GraphSpec
from tests.tiny import aim, degree_classifier, graph, problem, stack, trained_shapes

CLASSES = ("cycle", "star", "complete")
DISCRETE = ("anneal", "local search", "iterated search", "calibrate")


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
    without = fields.pop("without", ("anneal",))
    recipe = Recipe.auto().without(*without).with_(**{"iterations": 40, **fields})
    return searched(classifier, statistics, target, recipe, restarts, seed, callbacks, relax)


def searched(
    classifier: GraphClassifier,
    statistics: ClassStatistics | None,
    target: int,
    recipe: Recipe,
    restarts: int = 1,
    seed: int = 0,
    callbacks: tuple[Callable[[Snapshot], Any], ...] = (),
    relax: bool = True,
) -> SearchResult:
    """Search with the model borrowed once for all calls, as `explain` does."""
    relaxed = RelaxedModel(classifier)
    asked = ClassTarget(target, classifier.spec.class_names[target])
    with relaxed.session():
        return search(
            classifier, relaxed if relax else None, statistics, asked, recipe, restarts, seed,
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
    assert float(result.mean_score[best]) >= 0.99
    mode = result.distribution.select([best]).mode()
    assert float(classifier.probability(mode, target)) > 0.99
    assert bool(mode.connected())
    assert float(mode.num_edges) <= result.limits.max_edges


def test_the_recipe_as_it_comes_reaches_a_class() -> None:
    classifier, statistics = shapes_classifier()
    result = searched(classifier, statistics, 1, Recipe.auto())
    assert result.reasons == [Reason.CONVERGED]


def test_numbers_are_those_of_the_native_model_on_discrete_graphs() -> None:
    result = found(restarts=3)
    classifier, _ = shapes_classifier()
    modes = result.distribution.mode()
    assert torch.allclose(result.evaluation.score, classifier.probability(modes, 2), atol=1e-4)
    assert torch.equal(result.evaluation.edges, modes.num_edges)
    assert result.mean_score.shape == (3,)
    assert len(result.reasons) == len(result.iterations) == 3
    assert result.seconds > 0


def test_the_same_seed_gives_the_same_and_another_seed_something_else() -> None:
    one, again, other = found(seed=1), found(seed=1), found(seed=2)
    assert torch.equal(one.distribution.edge_logits, again.distribution.edge_logits)
    assert torch.equal(one.mean_score, again.mean_score)
    assert not torch.equal(one.distribution.edge_logits, other.distribution.edge_logits)


def test_each_class_has_random_numbers_of_its_own() -> None:
    first: list[torch.Tensor] = []

    def look(seen: Snapshot) -> None:
        first.append(seen.distribution.edge_logits.flatten().clone())

    for target in (0, 1):
        found(target, start="uniform", iterations=1, without=DISCRETE, callbacks=(look,))
    shared = min(len(logits) for logits in first)
    pair = torch.stack([logits[:shared] for logits in first])
    assert abs(float(torch.corrcoef(pair)[0, 1])) < 0.5


def test_a_restart_comes_to_the_same_whatever_their_number() -> None:
    classifier = degree_classifier()

    def edges(restarts: int) -> torch.Tensor:
        recipe = Recipe.auto(iterations=10, max_nodes=6, check_every=5).without("anneal")
        return searched(classifier, None, 1, recipe, restarts, 3).distribution.edge_logits

    five = edges(5)
    for restarts in (1, 2):
        assert torch.allclose(edges(restarts), five[:restarts], rtol=0, atol=1e-9)


def test_the_gradient_spares_graphs_that_leave_nothing_to_be_desired() -> None:
    spared, all_of_them = (found(without=(), spares=spares) for spares in (True, False))
    met = [n == 0 for n in spared.iterations]
    assert any(met)
    assert all(n > 0 for n in all_of_them.iterations)
    assert (spared.evaluation.score[torch.tensor(met)] >= spared.certain).all()


def test_callbacks_see_the_phases_in_order() -> None:
    seen: list[Snapshot] = []
    found(callbacks=(seen.append,), spares=False)
    phases = list(dict.fromkeys(look.phase for look in seen))
    assert phases[:2] == ["gradient", "local search"]
    assert phases[-1] == "calibrate"
    assert all(look.score.shape == look.edges.shape == (2,) for look in seen)
    assert [look.iteration for look in seen if look.phase == "gradient"][-1] <= 40


@pytest.mark.parametrize("phase", ["anneal", "gradient", "local search", "calibrate"])
def test_a_stop_is_obeyed_in_every_phase(phase: str) -> None:
    heard: list[str] = []

    def stop(look: Snapshot) -> bool:
        heard.append(look.phase)
        return look.phase == phase

    result = found(0, callbacks=(stop,), without=(), check_every=5, spares=False)
    assert heard.count(phase) == 1
    assert heard[-1] == phase
    assert result.distribution.restarts == len(result.reasons) == 2
    if phase == "anneal":
        assert result.iterations == [0, 0]


def test_a_stopped_search_says_so_where_it_has_found_nothing() -> None:
    def stop(look: Snapshot) -> bool:
        return True

    result = found(0, start="uniform", check_every=1, without=DISCRETE, callbacks=(stop,))
    assert result.reasons == [Reason.STOPPED] * 2
    assert result.iterations == [1, 1]


def test_local_search_without_calibration_still_moves_the_mode() -> None:
    result = found(1, without=("anneal", "calibrate"), iterations=10)
    classifier, _ = shapes_classifier()
    modes = result.distribution.mode()
    assert torch.equal(modes.num_edges, result.evaluation.edges)
    assert torch.allclose(classifier.probability(modes, 1), result.evaluation.score, atol=1e-4)
    calibrated = found(1, iterations=10)
    assert (calibrated.mean_score >= result.mean_score - 0.01).all()


def test_without_statistics_there_is_no_embedding_to_be_like() -> None:
    classifier, _ = shapes_classifier()
    recipe = Recipe.auto(iterations=20, max_nodes=7).without("anneal")
    result = searched(classifier, None, 2, recipe)
    assert result.evaluation.similarity.tolist() == [1.0]
    assert float(result.evaluation.score) > 0.9
    assert result.limits.max_nodes == 7


def test_restarts_are_ranked_by_cost_and_by_what_their_samples_lack() -> None:
    result = found(restarts=3)
    cost = torch.tensor([3.0, 1.0, 2.0])
    evaluation = replace(result.evaluation, cost=cost)
    level = replace(result, evaluation=evaluation, mean_score=torch.tensor([1.0, 0.995, 1.0]))
    assert level.ranking() == [1, 2, 0]
    lacking = replace(level, mean_score=torch.tensor([1.0, 0.5, 1.0]))
    assert lacking.ranking() == [2, 0, 1]


def test_the_paper_s_recipe_runs_as_it_is_written() -> None:
    recipe = Recipe.paper("shape", "star", iterations=30, max_nodes=8, max_edges=10)
    classifier, statistics = shapes_classifier()
    result = searched(classifier, statistics, 1, recipe, restarts=2)
    assert result.limits.max_nodes == 8
    names = set(result.history.terms[-1])
    # Without connectivity, whose weight is 0 for this class.
    assert names == {"class score", "embedding similarity", "L1", "L2", "budget"}


@pytest.mark.parametrize(
    ("reason", "mean", "over", "feasible", "stopped", "expected"),
    [
        (Reason.PLATEAU, 0.995, False, True, False, Reason.CONVERGED),
        (Reason.NON_FINITE, 0.995, False, True, False, Reason.CONVERGED),
        (Reason.PLATEAU, 0.995, False, True, True, Reason.CONVERGED),
        (Reason.CONVERGED, 0.5, False, True, False, Reason.PLATEAU),
        (Reason.RAN_OUT, 0.5, False, True, False, Reason.RAN_OUT),
        (Reason.PLATEAU, 0.995, False, False, False, Reason.PLATEAU),
        (Reason.PLATEAU, 0.995, True, False, False, Reason.BUDGET_NOT_MET),
        (Reason.NON_FINITE, 0.5, False, True, False, Reason.NON_FINITE),
        (Reason.PLATEAU, 0.5, True, False, True, Reason.STOPPED),
    ],
)
def test_the_last_word_on_why_a_restart_ended(
    reason: Reason, mean: float, over: bool, feasible: bool, stopped: bool, expected: Reason
) -> None:
    graphs = stack([graph(5, [(0, 1), (1, 2), (2, 3)])])
    task = problem(
        lambda g: g.num_edges,
        after=aim(max_edges=2.0 if over else 9.0),
        allows=lambda g: torch.full((len(g),), feasible),
    )
    state = State.begin(from_graphs(graphs), task).with_(reasons=(reason,))
    assert _reasons(state, torch.tensor([mean]), task, stopped) == [expected]


def triangles(weight: torch.Tensor) -> torch.Tensor:
    return (weight @ weight @ weight).diagonal(dim1=1, dim2=2).sum(1) / 6


@dataclass(frozen=True)
class NoTriangles(Term):
    """A wish of a user's own."""

    smooth: ClassVar[bool] = True

    def discrete(self, proposals: Proposals) -> torch.Tensor:
        return triangles(proposals.graphs.weight)


@pytest.mark.parametrize(
    "without", [DISCRETE, ("gradient",), ()], ids=["gradient alone", "discrete phases", "all"]
)
def test_a_term_that_a_user_adds_changes_what_the_search_returns(without: tuple[str, ...]) -> None:
    """In the gradient and in the discrete phases, with no more than adding it to the recipe."""
    classifier = degree_classifier()
    recipe = Recipe.auto(max_nodes=6, iterations=60).without(*without)
    wish = Weighted(NoTriangles(), soft=2.0, discrete=40.0)
    plain, wished = (
        triangles(searched(classifier, None, 1, how, restarts=4).distribution.mode().weight)
        for how in (recipe, recipe.adding(wish))
    )
    # Left to itself, the dense class has triangles; it need not.
    assert (plain > 0).all()
    assert wished.sum() < plain.sum()
    if "local search" not in without:
        assert wished.tolist() == [0.0] * 4


def test_phases_are_timed_one_by_one() -> None:
    result = found(without=("calibrate",))
    names = [phase.name for phase in Recipe.auto().without("calibrate").phases]
    assert list(result.phase_seconds) == names
    assert 0 < sum(result.phase_seconds.values()) <= result.seconds
