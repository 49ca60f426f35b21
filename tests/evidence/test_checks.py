"""Every check against figures made by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.evidence import (
    Check,
    Evidence,
    Rule,
    audit_check,
    evidence_of,
    verdict_on,
)
from gnninterpreter.evidence.checks import feasible
from gnninterpreter.evidence.patterns import Core, Effect
from gnninterpreter.explanation import Explanation, Probability
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.profile import Profile
from gnninterpreter.typicality import Typicality
from gnninterpreter.typicality.pieces import to_dense
from tests.evidence.patterns.pairs import chain
from tests.evidence.test_controls import case
from tests.explanation.made import explanation
from tests.tiny import PLAIN, MeanDegree, graph, stack
from tests.typicality.some import KINDS, ring

TRIANGLE = [(0, 1), (1, 2), (0, 2)]
SQUARE = [(0, 1), (1, 2), (2, 3), (0, 3)]
STAR = [(0, 1), (0, 2), (0, 3)]


def made(mean: float = 0.995, means: tuple[float, ...] = (0.995, 0.999, 0.2, 0.99)) -> Explanation:
    """Four restarts: a triangle, the same numbered otherwise, a square that failed, a star."""
    graphs = stack(
        [graph(5, TRIANGLE), graph(5, [(1, 2), (2, 3), (1, 3)]), graph(5, SQUARE), graph(5, STAR)]
    )
    one = explanation(graphs, target=1, probabilities=[0.995] * 4)
    restarts = [replace(r, mean_probability=m) for r, m in zip(one.restarts, means, strict=True)]
    return replace(one, restarts=restarts, probability=Probability(mean, 0.01, 1000))


def check(name: str, one: Explanation, **given: object) -> Check:
    evidence = evidence_of(one, **given)  # type: ignore[arg-type]
    assert name in [c.name for c in evidence]
    return evidence[name]


def test_every_check_is_there_once_and_nothing_is_ticked_unasked() -> None:
    evidence = evidence_of(made())
    assert isinstance(evidence, Evidence)
    assert [c.name for c in evidence if c.passed is None] == [
        "samples certain", "certainty among real graphs", "typical", "familiar", "new",
        "core covers",
        "necessary", "sufficient", "counts", "more than one kind", "not by heart", "peers agree",
        "random graphs", "model is right", "rule of the data set", "audit",
    ]  # fmt: skip
    assert [c.name for c in evidence if c.passed] == [
        "something found", "target reached", "certain", "feasible", "likeness",
        "restarts reach it", "restarts agree",
    ]  # fmt: skip


def test_something_found() -> None:
    assert check("something found", made()).value == 3
    empty = explanation(stack([graph(5, [])]), target=1)
    assert check("something found", empty).passed is False
    assert check("feasible", empty).passed is None
    assert check("restarts agree", empty).passed is None


@pytest.mark.parametrize(
    ("mean", "reached", "certain"),
    [(0.99, True, True), (0.9899, True, False), (0.9, True, False), (0.8999, False, False)],
)
def test_certainty(mean: float, reached: bool, certain: bool) -> None:
    one = made(mean)
    assert check("target reached", one).passed is reached
    assert check("certain", one).passed is certain
    assert (check("certain", one).value, check("certain", one).reference) == (mean, 0.99)


def test_scores_that_are_no_numbers_reach_nothing() -> None:
    assert check("target reached", made(float("nan"))).passed is False


def test_share_of_samples_that_are_certain() -> None:
    scores = torch.tensor([1.0] * 8 + [0.98, 0.99])
    found = check("samples certain", made(), scores=scores)
    assert (found.value, found.passed) == (0.9, True)
    assert found.sentence == "the model is certain of 90% of the samples"
    assert check("samples certain", made(), scores=scores[2:]).passed is False
    assert (
        "certain of all of the samples"
        in check("samples certain", made(), scores=scores[:3]).sentence
    )


def test_feasible() -> None:
    one = made()
    restarts = [replace(one.restarts[0], feasible=False), *one.restarts[1:]]
    assert check("feasible", one).passed is True
    assert check("feasible", replace(one, restarts=restarts)).passed is False


def test_a_graph_in_pieces_is_fine_where_real_graphs_are() -> None:
    def apart(colours: str) -> Data:
        """A chain of which the last two nodes are a piece of their own."""
        one = chain(colours)
        across = one.edge_index.sum(0) == 2 * len(colours) - 5
        return Data(x=one.x, edge_index=one.edge_index[:, ~across])

    made_case = case([apart("bbrrbb")] * 12 + [chain("bbbb")] * 12)
    one = explanation(dense_graphs([apart("bbrrbb")], made_case.explanation.spec), target=1)
    one = replace(one, spec=made_case.explanation.spec)
    one = replace(one, restarts=[replace(one.restarts[0], feasible=False)])
    found = feasible(replace(made_case, explanation=one))
    assert found.passed
    assert found.sentence == "the graph is in pieces, as are all of the real graphs of the class"
    whole = case([chain("bbrrbb")] * 12 + [chain("bbbb")] * 12)
    assert feasible(replace(whole, explanation=one)).passed is False


@pytest.mark.parametrize(("percentile", "passed"), [(10.0, True), (9.9, False), (None, None)])
def test_likeness(percentile: float | None, passed: bool | None) -> None:
    found = check("likeness", replace(made(), similarity_percentile=percentile))
    assert (found.value, found.passed) == (percentile, passed)


def test_restarts_reach_it() -> None:
    found = check("restarts reach it", made())
    assert (found.value, found.reference, found.passed) == (3, 4, True)
    few = check("restarts reach it", made(means=(0.995, 0.9, 0.9, 0.9)))
    assert (few.passed, few.sentence) == (False, "only 1 of 4 restarts reached the class")


def test_restarts_that_find_other_graphs_disagree() -> None:
    """Three reached it: two triangles and a star are two graphs, which is within 0.75 of three."""
    found = check("restarts agree", made())
    assert (found.value, found.reference, found.passed) == (2, 3, True)
    assert found.sentence == "the 3 restarts that reached the class found 2 different graphs"
    same = check("restarts agree", made(means=(0.995, 0.995, 0.2, 0.2)))
    assert (same.value, same.passed) == (1, True)
    other = check("restarts agree", made(means=(0.995, 0.2, 0.995, 0.995)))
    assert (other.value, other.passed) == (3, False)
    assert check("restarts agree", made(means=(0.995, 0.2, 0.2, 0.2))).passed is None


def always(score: float) -> GraphClassifier:
    """A model that gives the second class this much, whatever the graph."""
    model = MeanDegree(slope=0.0)
    with torch.no_grad():
        model.head.bias[1] += math.log(score / (1 - score))
    return GraphClassifier(model, PLAIN)


@pytest.mark.parametrize(("score", "passed"), [(0.89, True), (0.9, False)])
def test_random_graphs_of_the_same_size(score: float, passed: bool) -> None:
    """They do as well where they get nine tenths of 0.995, which is 0.8955."""
    star = replace(made(), choice=3)
    found = check("random graphs", star, classifier=always(score))
    assert (found.value, found.reference) == (pytest.approx(score, abs=1e-6), 0.995)
    assert found.passed is passed
    assert found.sentence.startswith(f"random graphs of this size get {score:.3f} on average")


def test_random_graphs_that_do_as_well_where_none_does_well() -> None:
    """Then the class is not what the model says of most graphs."""
    star = replace(made(), choice=3, probability=Probability(0.01, 0.0, 10))
    found = check("random graphs", star, classifier=always(0.02))
    assert found.passed is False
    assert found.sentence.endswith("0.020: this one is not special")
    most = check("random graphs", replace(made(), choice=3), classifier=always(0.9))
    assert most.sentence.endswith(
        "is what the model says of most graphs, and this one is not special"
    )


def test_the_graph_itself_is_no_control() -> None:
    """A triangle has every edge, so that all random graphs as dense are triangles."""
    found = check("random graphs", made(), classifier=always(0.95))
    assert found.passed is None
    assert found.sentence == "no other graph of this size and density can be drawn"


def says(label: int, of_thumb: bool = False) -> Rule:
    return Rule(lambda _: label, of_thumb)


def test_the_rule_is_asked_about_the_graph() -> None:
    classifier = GraphClassifier(MeanDegree(), PLAIN)
    right = check("rule of the data set", made(), classifier=classifier, rule=says(1))
    assert (right.passed, right.value) == (True, "b")
    wrong = check("rule of the data set", made(), classifier=classifier, rule=says(0))
    assert (wrong.passed, wrong.value, wrong.reference, wrong.grave) == (False, "a", "b", True)
    assert "ground truth" not in wrong.sentence


def test_a_rule_of_thumb_is_called_one() -> None:
    wrong = check("rule of thumb", made(), rule=says(0, of_thumb=True))
    assert (wrong.passed, wrong.grave) == (False, False)
    assert "by the rule of thumb the graph is" in wrong.sentence
    assert "rules of thumb are not always right" in wrong.sentence


def test_a_rule_that_fails_leaves_the_question_open() -> None:
    def broken(graph: Data) -> int:
        raise ValueError("no ring here")

    found = check("rule of the data set", made(), rule=Rule(broken))
    assert found.passed is None
    assert "no ring here" in found.sentence


@pytest.mark.parametrize(
    ("findings", "passed", "grave"),
    [
        ([], True, False),
        ([("low", "A")], True, False),
        ([("medium", "A"), ("low", "B")], False, False),
        ([("high", "A"), ("low", "B")], False, True),
    ],
)
def test_what_an_audit_found(findings: list[tuple[str, str]], passed: bool, grave: bool) -> None:
    found = audit_check(findings)
    assert (found.passed, found.grave) == (passed, grave)
    assert found.sentence.endswith(" and 1 more") == (len(findings) == 2)


# --- held against real graphs ---------------------------------------------------------------------


def with_percentiles(*percentiles: float | None) -> Explanation:
    one = made()
    rows = zip(one.restarts, percentiles, strict=True)
    return replace(one, restarts=[replace(r, percentile=p) for r, p in rows])


@pytest.mark.parametrize(
    ("percentile", "passed"), [(None, None), (9.9, False), (10.0, True), (80.0, True)]
)
def test_typical(percentile: float | None, passed: bool | None) -> None:
    found = check("typical", with_percentiles(percentile, 50.0, 50.0, 50.0))
    assert (found.passed, found.value) == (passed, percentile)


def test_an_answer_that_rests_on_a_kind_of_a_handful_says_so() -> None:
    odd = ring(6, kinds=[2, 1, 0, 1, 0, 1])
    real = [ring(n, kinds=[0, 1] * (n // 2)) for n in (4, 6, 8)] * 32 + [odd] * 4
    known = Typicality.of(real, KINDS, 8, lambda some: torch.ones(len(some)).bool())
    one = explanation(to_dense([odd], KINDS), target=1)
    one = replace(one, restarts=[replace(one.restarts[0], percentile=0.0)])
    found = check("typical", one, profile=Profile(100, 6.0, 6.0, typicality=known))
    assert found.passed is False
    assert found.sentence == f"untypical: only 4 of 100 real graphs {one.target.members} hold 2"


def test_an_answer_of_parts_that_no_real_graph_has_says_so() -> None:
    caged = ring(6, kinds=[0, 1, 0, 1, 0, 1])
    caged.edge_index = torch.cat([caged.edge_index, torch.tensor([[0, 3], [3, 0]])], 1)
    real = [ring(n, kinds=[0, 1] * (n // 2)) for n in (4, 6, 8)] * 32
    known = Typicality.of(real, KINDS, 8, lambda some: torch.ones(len(some)).bool())
    one = explanation(to_dense([caged], KINDS), target=1)
    one = replace(one, restarts=[replace(one.restarts[0], percentile=0.0)])
    found = check("typical", one, profile=Profile(96, 6.0, 6.0, typicality=known))
    members = f"only 0% of the real graphs {one.target.members} are made of parts as rare"
    assert found.sentence == f"untypical: {members}"


def test_several_typical_graphs_are_no_disagreement() -> None:
    # Three restarts got there; they found a triangle twice and a star.
    untypical = check("restarts agree", with_percentiles(1.0, 1.0, 1.0, 1.0))
    assert (untypical.value, untypical.passed) == (2, True)
    other = made(means=(0.995, 0.2, 0.2, 0.99))
    assert check("restarts agree", other).passed is False
    typical = replace(other, restarts=[replace(r, percentile=50.0) for r in other.restarts])
    found = check("restarts agree", typical)
    assert found.passed is True
    assert found.sentence.endswith("found 2 different graphs, 2 of them typical")


def test_certainty_among_real_graphs() -> None:
    sure = Profile(20, 5.0, 5.0, score_quantiles=torch.linspace(0.0, 1.0, 101))
    found = check("certainty among real graphs", made(), profile=sure)
    # The graph has 0.995; quantiles 0 to 0.99 lie below.
    assert found.value == pytest.approx(100 * 100 / 101)
    assert found.passed is True
    unsure = replace(made(), mode_probability=0.05)
    assert check("certainty among real graphs", unsure, profile=sure).passed is False


def test_whether_it_is_a_real_graph_is_said_and_never_fails() -> None:
    triangle = graph(5, TRIANGLE).to_data_list()[0]
    star = graph(5, STAR).to_data_list()[0]
    known = check("new", made(), graphs=[star, triangle, triangle])
    assert (known.passed, known.value, known.reference) == (True, 2, 3)
    assert known.sentence == "it is a real graph of the data, which holds it 2 times"
    other = check("new", made(), graphs=[star])
    assert (other.passed, other.sentence) == (True, "it is none of the 1 real graphs")


def test_what_the_core_does() -> None:
    bare = Core(made().best, PLAIN, 0.999, True)
    one = replace(made(), cores=[bare])
    assert check("core covers", one).sentence == "there is no data to look for the core in"
    counted = bare.with_(
        coverage=0.25, lift=1.4, matched=5, total=20, others=3, rest=20, undecided=2,
        necessity=Effect(0.5, 0.1, 5), sufficiency=Effect(0.3, 0.25, 20),
    )  # fmt: skip
    one = replace(made(), cores=[counted])
    covers = check("core covers", one)
    assert (covers.passed, covers.value) == (False, 0.25)
    assert covers.sentence == (
        "5 of 20 graphs of the class contain this, not decided for 2, 25% and 1.4 times as often "
        "as others"
    )
    assert check("necessary", one).passed is True
    assert check("sufficient", one).passed is False
    assert verdict_on(Evidence((covers,))).word == "not checked"


def test_a_graph_with_edges_is_untypical_of_graphs_without_any() -> None:
    known = GraphClassifier(MeanDegree(slope=-4.0).double(), PLAIN)
    bare = Data(edge_index=torch.zeros(2, 0).long(), num_nodes=3)
    target = replace(made().target, index=1)
    found = check("typical", replace(made(), target=target), classifier=known, graphs=[bare] * 12)
    assert found.passed is False
    said = "untypical: all of the real graphs of the class have no edge, and it has"
    assert found.sentence == said


def test_a_graph_without_the_core_that_makes_the_class_is_not_trusted() -> None:
    k4 = graph(5, [(i, j) for i in range(4) for j in range(i)]).to_data_list()[0]
    counts = {"matched": 19, "total": 20, "others": 0, "rest": 20}
    core = Core(k4, PLAIN, 0.999, True, coverage=0.95, lift=39.0, **counts)
    missed = check("holds the core", replace(made(), cores=[core]))
    assert missed.passed is False
    assert missed.sentence == (
        "the graph does not hold the core: 19 of 20 graphs of the class contain this, 95% and 39.0 "
        "times as often as others; here the model is certain for another reason"
    )
    word = "certain for another reason than its core"
    assert verdict_on(Evidence((missed,))).word == word
    for one in (core.with_(lift=5.0), core.with_(coverage=0.7), core.with_(graph=made().best)):
        found = evidence_of(replace(made(), cores=[one]))
        assert found["holds the core"].passed is None
        assert found["core covers"].passed


@pytest.mark.parametrize(("slopes", "passed"), [((4.0,), True), ((4.0, -4.0, -4.0), False)])
def test_peers(slopes: tuple[float, ...], passed: bool) -> None:
    # A triangle has a mean degree of two, where `MeanDegree` is undecided; K4 has three.
    k4 = [(i, j) for i in range(4) for j in range(i)]
    one = explanation(stack([graph(5, k4)]), target=1)
    peers = [GraphClassifier(MeanDegree(slope=slope).double(), PLAIN) for slope in slopes]
    found = check("peers agree", one, peers=peers)
    assert found.passed is passed
    assert found.value == pytest.approx(1 / len(slopes))
