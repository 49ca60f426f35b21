"""From a search to an explanation: numbers of the native model, and what gave way is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.distribution import from_graphs
from gnninterpreter.evidence.patterns import Answers
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.explanation.assembly import _chosen, explanation_of
from gnninterpreter.explanation.explanation import Explanation
from gnninterpreter.explanation.sampler import REPORTING
from gnninterpreter.graphs import DenseGraphs, dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import ClassTarget
from gnninterpreter.search import History, Limits, Problem, Reason, Recipe, SearchResult
from tests.evidence.patterns.pairs import SPEC, chain
from tests.tiny import aim, degree_classifier, edges_only, graph, stack

COMPLETE = [(i, j) for i in range(5) for j in range(i)]
CYCLE = [(i, (i + 1) % 5) for i in range(5)]
PAIRS = [(0, 1), (2, 3)]


@pytest.fixture(scope="module")
def classifier() -> GraphClassifier:
    """Says "b" to graphs whose mean degree is above two."""
    return degree_classifier()


def statistics(*quantiles: float) -> ClassStatistics:
    """Both classes have a mean embedding of one number, a positive mean degree."""
    both = torch.ones(2)
    spread = torch.tensor([quantiles or (0.0, 1.0)] * 2)
    levels = torch.nn.functional.interpolate(
        spread.unsqueeze(1), 101, mode="linear", align_corners=True
    )
    return ClassStatistics(
        both, torch.ones(2, 1), both, both, both, both, levels.squeeze(1),
        torch.linspace(0, 1, 101).repeat(2, 1), both, torch.zeros(0, 101),
    )  # fmt: skip


def result(classifier: GraphClassifier, graphs: DenseGraphs, **fields: Any) -> SearchResult:
    restarts = len(graphs)
    task = Problem(classifier, None, Recipe.auto().objective, aim(1, max_edges=12.0))
    evaluation = task.evaluate(graphs)
    found = SearchResult(
        target=ClassTarget(1, "b"),
        distribution=from_graphs(graphs),
        evaluation=evaluation,
        mean_score=evaluation.score,
        reasons=[Reason.CONVERGED] * restarts,
        iterations=list(range(20, 20 + restarts)),
        history=History(),
        limits=Limits(6, 12.0),
        gradient="relaxed",
        certain=0.99,
        seconds=0.5,
        phase_seconds={},
    )
    return replace(found, **fields)


def explained(
    classifier: GraphClassifier, found: SearchResult, known: ClassStatistics | None = None
) -> Explanation:
    return explanation_of(found, classifier, known, "mine", 7)


def test_the_best_restart_is_chosen(classifier: GraphClassifier) -> None:
    graphs = stack([graph(6, CYCLE), graph(6, COMPLETE), graph(6, PAIRS)])
    one = explained(classifier, result(classifier, graphs))
    assert one.choice == 1
    assert (one.num_nodes, one.num_edges) == (5, 10)
    assert (one.recipe, one.seed, one.target.index, one.name) == ("mine", 7, 1, "b")
    assert (one.max_nodes, one.max_edges, one.gradient) == (6, 12.0, "relaxed")


def test_numbers_are_those_of_the_native_model(classifier: GraphClassifier) -> None:
    graphs = stack([graph(6, CYCLE), graph(6, COMPLETE), graph(6, PAIRS)])
    one = explained(classifier, result(classifier, graphs))
    expected = classifier.score(graphs).probabilities
    assert [r.probability for r in one.restarts] == pytest.approx(expected[:, 1].tolist())
    assert one.class_probabilities == pytest.approx(expected[1].tolist())
    assert one.mode_probability == pytest.approx(float(expected[1, 1]))
    assert [r.edges for r in one.restarts] == [5, 10, 2]
    assert [r.nodes for r in one.restarts] == [5, 5, 4]
    assert [r.feasible for r in one.restarts] == [True, True, False]
    assert [r.iterations for r in one.restarts] == [20, 21, 22]
    assert {r.reason for r in one.restarts} == {"converged"}


def test_the_probability_is_that_of_a_thousand_samples(classifier: GraphClassifier) -> None:
    """Not of those that the explanation draws for the same seed: they are a second opinion."""
    of = edges_only([[3.0] * 10], 5)
    found = result(classifier, graph(5, COMPLETE), distribution=of)
    one = explained(classifier, found)
    drawn = classifier.probability(one.sampler.sample(1000, 7, REPORTING), 1)
    assert one.probability.n == 1000
    assert one.probability.mean == pytest.approx(float(drawn.mean()))
    assert one.probability.std == pytest.approx(float(drawn.std()))
    assert 0 < one.probability.std < 0.5
    for seed in (0, 7):
        fresh = classifier.probability(one.sample_dense(1000, seed), 1)
        assert not torch.equal(fresh, drawn)
        assert float(fresh.mean()) == pytest.approx(one.probability.mean, abs=0.05)


def test_without_statistics_nothing_is_said_of_likeness(classifier: GraphClassifier) -> None:
    one = explained(classifier, result(classifier, graph(6, COMPLETE)))
    assert one.similarity is None
    assert one.similarity_percentile is None
    assert one.restarts[0].similarity is None
    assert one.evidence["likeness"].passed is None


def test_likeness_to_the_class(classifier: GraphClassifier) -> None:
    found = result(classifier, graph(6, COMPLETE))
    one = explained(classifier, found, statistics(0.0, 1.0))
    assert one.similarity == pytest.approx(1.0)
    assert one.similarity_percentile is not None
    assert one.similarity_percentile > 95
    assert one.evidence["likeness"].passed


def test_a_graph_unlike_its_class_is_out_of_distribution(classifier: GraphClassifier) -> None:
    known = statistics(0.5, 1.0)
    opposite = replace(known, mean_embedding=-known.mean_embedding)
    one = explained(classifier, result(classifier, graph(6, COMPLETE)), opposite)
    assert one.similarity == pytest.approx(-1.0)
    assert one.similarity_percentile == 0.0
    sentence = one.evidence["likeness"].sentence
    assert sentence.startswith("out of distribution: less like graphs of the class than 100%")


def test_an_improbable_explanation_warns(classifier: GraphClassifier) -> None:
    graphs = stack([graph(6, CYCLE), graph(6, PAIRS)])
    one = explained(classifier, result(classifier, graphs))
    assert one.probability.mean < 0.9
    assert one.verdict.word == "not reached"
    reasons = " / ".join(one.verdict.reasons)
    assert "The model gives samples only 0." in reasons
    assert "do not read this as what the class looks like" in reasons
    assert "Only 0 of 2 restarts reached the class" in reasons


def test_a_model_that_is_not_quite_certain_is_said_to_be_so(classifier: GraphClassifier) -> None:
    one = explained(classifier, result(classifier, graph(6, [*CYCLE, (0, 2)])))
    assert 0.9 < one.probability.mean < 0.99
    assert one.evidence["certain"].sentence == (
        f"the model is not certain of this: samples have {one.probability.mean:.3f} on average"
    )


@pytest.mark.parametrize(
    ("edges", "limit", "usual", "said"),
    [
        (CYCLE, 5, 9.0, True),
        (CYCLE, 6, 9.0, False),
        (CYCLE, 5, 5.0, False),
        (COMPLETE, 5, 9.0, False),
    ],
    ids=["at the limit", "below it", "as large as the class", "reached all the same"],
)
def test_where_more_nodes_may_help_it_says_so(
    classifier: GraphClassifier,
    edges: list[tuple[int, int]],
    limit: int,
    usual: float,
    said: bool,
) -> None:
    known = replace(statistics(0.0, 1.0), mean_nodes=torch.tensor([1.0, usual]))
    found = result(classifier, graph(6, edges), limits=Limits(limit, 12.0))
    one = explained(classifier, found, known)
    hint = "it has as many nodes as it may, 5, and graphs of the class have 9 on average: "
    assert any(note.startswith(hint) for note in one.notes) == said


def test_few_different_samples_are_said_to_be_so(classifier: GraphClassifier) -> None:
    graphs = stack([graph(6, COMPLETE)])
    for count, said in ((1, "only one graph is certain"), (49, "only 49 different"), (50, "")):
        population = stack([graph(6, COMPLETE)] * count)
        notes = explained(classifier, result(classifier, graphs, population=population)).notes
        assert [note.startswith(said) for note in notes] == [True] * bool(said)


def test_a_graph_in_pieces_warns(classifier: GraphClassifier) -> None:
    one = explained(classifier, result(classifier, graph(6, PAIRS)))
    sentence = "the graph is in pieces, too small or over the size limit"
    assert one.evidence["feasible"].sentence == sentence


def test_no_graph_at_all_warns(classifier: GraphClassifier) -> None:
    one = explained(classifier, result(classifier, graph(6, [])))
    assert one.num_edges == 0
    assert one.mode_probability == 0.0
    assert one.verdict.word == "nothing found"
    assert one.verdict.reasons[0] == "No graph was found: the most probable one has no edges."


def test_curves_have_a_value_for_each_restart_at_each_look(classifier: GraphClassifier) -> None:
    def pair(*values: float) -> torch.Tensor:
        return torch.tensor(values)

    history = History(
        iteration=[10, 20],
        probability=[pair(0.1, 0.2), pair(0.3, 0.4)],
        expected_edges=[pair(1.0, 2.0), pair(3.0, 4.0)],
        similarity=[pair(0.5, 0.6), pair(0.7, 0.8)],
        terms=[{"budget": pair(9.0, 8.0)}, {"budget": pair(7.0, 6.0), "entropy": pair(1.0, 1.5)}],
    )
    graphs = stack([graph(6, COMPLETE)] * 2)
    one = explained(classifier, result(classifier, graphs, history=history))
    curves = {curve.name: curve for curve in one.history}
    assert list(curves) == ["probability", "expected edges", "similarity", "budget", "entropy"]
    assert curves["expected edges"].values == [[1.0, 2.0], [3.0, 4.0]]
    assert curves["budget"].iterations == [10, 20]
    # A term whose weight was 0 at first appears when it does.
    assert curves["entropy"].iterations == [20]
    assert curves["entropy"].values == [[1.0, 1.5]]


def known(_: Data) -> bool:
    """Every graph is familiar to the model."""
    return True


@pytest.mark.parametrize(
    ("fine", "choice"),
    [([True, True, True], 1), ([True, False, True], 2), ([True, False, False], 0)],
)
def test_the_graph_that_is_shown_holds_the_core_of_nearly_all(
    fine: list[bool], choice: int
) -> None:
    modes = dense_graphs([chain("bbbb"), chain("brrb"), chain("rrbb")], SPEC)
    core = Core(chain("rr"), SPEC, 1.0, True, coverage=1.0, lift=50.0)
    no = [False, False, False]
    assert _chosen([0, 1, 2], fine, no, modes, Answers([core]), known) == choice
    for other in (core.with_(coverage=0.7), core.with_(lift=2.0), core.with_(coverage=None)):
        assert _chosen([0, 1, 2], fine, no, modes, Answers([other]), known) == 0
    assert _chosen([2, 0, 1], fine, no, modes, Answers([core]), known) == 2
    assert _chosen([0, 1, 2], fine, no, modes, Answers(), known) == 0


def test_the_graph_that_is_shown_holds_the_first_core_that_an_equally_good_one_holds() -> None:
    modes = dense_graphs([chain("bbbb"), chain("brbb"), chain("brrb"), chain("rrrr")], SPEC)
    some = {"coverage": 0.3, "lift": 2.0}
    cores = [Core(chain(kinds), SPEC, 1.0, True, **some) for kinds in ("rrr", "rr", "br")]
    fine = [True] * 4
    for met, choice in [
        ([True, True, True, True], 3),
        ([True, True, True, False], 2),
        ([True, True, False, False], 1),
        ([True, False, False, False], 0),
    ]:
        assert _chosen([0, 1, 2, 3], fine, met, modes, Answers(cores), known) == choice
    # The best one may be shown whatever it lacks.
    assert _chosen([2, 0, 1, 3], fine, [False] * 4, modes, Answers(cores[1:]), known) == 2
    assert [cores[1].held_by(graph) for graph in modes.to_data_list()] == [False, False, True, True]


def test_of_equally_good_graphs_one_is_shown_that_is_familiar_to_the_model() -> None:
    modes = dense_graphs([chain("rrbb"), chain("rrb"), chain("brrb"), chain("bbbb")], SPEC)
    core = Core(chain("rr"), SPEC, 1.0, True, coverage=1.0, lift=50.0)

    def familiar(graph: Data) -> bool:
        return not graph.x[0, 1]  # those that begin with a blue node

    yes, no, order = [True] * 4, [False] * 4, [0, 1, 2, 3]
    assert _chosen(order, yes, yes, modes, Answers([core]), familiar) == 2
    assert _chosen(order, [True, True, False, True], yes, modes, Answers([core]), familiar) == 0
    assert _chosen(order, yes, yes, modes, Answers(), familiar) == 2
    assert _chosen(order, yes, no, modes, Answers(), familiar) == 0


def test_of_what_is_left_a_graph_is_shown_without_the_core_of_another_class() -> None:
    modes = dense_graphs([chain("brrb"), chain("bbbb"), chain("brbb")], SPEC)
    core = Core(chain("rr"), SPEC, 1.0, True, coverage=1.0, lift=50.0)
    order, no = [0, 2, 1], [False] * 3
    answers = Answers(lacked=[core])
    assert _chosen(order, [True] * 3, no, modes, answers, known) == 2
    assert _chosen(order, [True, True, False], no, modes, answers, known) == 1
    assert _chosen(order, [True, False, False], no, modes, answers, known) == 0
