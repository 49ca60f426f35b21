"""Each question of the audit by itself, on a model whose every answer is known."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_mean_pool
from torch_geometric.utils import degree

from gnninterpreter.audit.changes import small_change_findings
from gnninterpreter.audit.context import Context, host_graphs, in_turn, oracle_of
from gnninterpreter.audit.findings import Kind, Severity
from gnninterpreter.audit.flips import LARGEST_P, count_flips, families, lookalike_findings
from gnninterpreter.audit.patterns import Pattern
from gnninterpreter.audit.questions import default_class, disagreements, random_questions
from gnninterpreter.datasets import NAMES, dataset_class
from gnninterpreter.datasets.mutag import MUTAG
from gnninterpreter.errors import DataError
from gnninterpreter.evidence import rule_of
from gnninterpreter.models import load
from gnninterpreter.models.classifier import GraphClassifier
from tests.audit.conftest import SPEC, has_triangle, plain
from tests.report.conftest import SURE, make_explanation

SQUARE = {(0, 1): SURE, (1, 2): SURE, (2, 3): SURE, (0, 3): SURE}
K4 = {**SQUARE, (0, 2): SURE, (1, 3): SURE}


def test_hosts_come_from_the_data_where_there_is_some(context: Context) -> None:
    graphs, source = host_graphs(context.classifier, context.hosts, None, 3, seed=0)
    assert len(graphs) == 3
    assert source == "graphs of the data set"
    again, _ = host_graphs(context.classifier, context.hosts, None, 3, seed=0)
    assert [g.num_nodes for g in graphs] == [g.num_nodes for g in again]


def test_hosts_are_random_where_nothing_is_known(context: Context) -> None:
    graphs, source = host_graphs(context.classifier, None, None, 4, seed=0)
    assert (len(graphs), source) == (4, "random graphs")


def test_hosts_are_random_where_the_data_cannot_be_had(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise DataError("no files")

    monkeypatch.setattr("gnninterpreter.audit.context.load", missing)
    assert host_graphs(context.classifier, None, "mutag", 4, seed=0)[1] == "random graphs"


def test_flips_count_only_where_the_rule_disagrees(context: Context) -> None:
    cube = plain(nx.hypercube_graph(3))
    tight = plain(nx.complete_graph(6))
    fooled = count_flips(cube, 1, context.hosts, context)
    right = count_flips(tight, 1, context.hosts, context)
    assert fooled.rate == fooled.says / fooled.count > 0
    assert all(int(found.y) == 0 for found in fooled.fooled)
    assert right.says > 0
    assert right.rate == 0


def test_lookalikes_that_fool_are_a_finding(context: Context) -> None:
    # No look-alike of it has a triangle, and hardly any random graph as dense has none.
    source = plain(nx.complete_bipartite_graph(3, 3))
    found, asked, rates = lookalike_findings(source, "a square net", 1, context)
    assert "look-alikes that pass" in asked
    finding = found[0]
    assert finding.kind is Kind.LOOKALIKE
    assert finding.target == "dense"
    assert finding.numbers["mean flip rate"] == rates["double covers"] > 0
    assert finding.numbers["strongest flip rate"] >= finding.numbers["mean flip rate"]
    assert finding.numbers["p-value"] <= LARGEST_P
    assert rates["random graphs"] == finding.numbers["random flip rate"]
    assert all(int(one.y) == 0 for one in finding.graphs)


class Threes(nn.Module):
    """Says "dense" where more than a third of the nodes have exactly three neighbors."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        three = degree(edge_index[0], x.size(0)).eq(3).to(x.dtype).unsqueeze(1)
        score = 20 * self.scale * (global_mean_pool(three, batch) - 1 / 3)
        return torch.cat([-score, score], dim=1)


def test_without_a_rule_nothing_is_proved(context: Context) -> None:
    unruled = replace(context, classifier=GraphClassifier(Threes(), SPEC), oracle=None)
    found, _, rates = lookalike_findings(plain(nx.complete_graph(4)), "a clique", 1, unruled)
    assert found[0].severity is Severity.MEDIUM
    assert "no rule to say" in found[0].sentence
    assert all(one.get("y") is None for one in found[0].graphs)
    assert rates["double covers"] - rates["random graphs"] >= 0.5


def test_what_random_graphs_do_as_often_is_no_finding(context: Context) -> None:
    # The mean degree of a random graph with as many edges is the same.
    unruled = replace(context, oracle=None)
    found, asked, rates = lookalike_findings(plain(nx.complete_graph(5)), "a clique", 1, unruled)
    assert found == []
    assert rates["double covers"] == rates["random graphs"] > 0
    assert "random graphs: " in asked


def test_a_rule_of_thumb_proves_less(context: Context) -> None:
    assert context.gravest is Severity.HIGH
    assert context.rule == "the rule of the data set"
    for thumb in (replace(context, rule_agreement=0.9), replace(context, rule_of_thumb=True)):
        assert thumb.gravest is Severity.MEDIUM
        assert thumb.rule == "a rule of thumb"
        # What it says of a graph is nothing to learn from.
        assert thumb.labeled(plain(nx.complete_graph(3))).get("y") is None
        assert thumb.ruled(plain(nx.complete_graph(3))) == ", by a rule of thumb dense"
    assert context.labeled(plain(nx.complete_graph(3))).y.tolist() == [1]


def test_the_molecules_have_only_a_rule_of_thumb() -> None:
    named = {n: rule_of(None, dataset_class(n)) for n in NAMES if not n.startswith("muta")}
    assert not any(rule is not None and rule.of_thumb for rule in named.values())
    for source in ((None, MUTAG), (load("mutag"),)):
        rule = rule_of(*source)
        assert rule is not None
        assert rule.of_thumb
    assert not rule_of(load("motif")).of_thumb  # type: ignore[union-attr]
    assert oracle_of(load("motif")) is dataset_class("motif").oracle
    assert oracle_of(load("motif"), [1, 2]) is dataset_class("motif").oracle
    assert oracle_of(nn.Linear(1, 1), [1, 2]) is None


def test_groups_take_turns() -> None:
    assert in_turn([[1, 2, 3], [], [4]], 3) == (1, 4, 2)
    assert in_turn([], 3) == ()


def test_families_from_hard_to_easy(context: Context) -> None:
    made = families(plain(nx.circular_ladder_graph(5)), context)
    assert next(iter(made)) == "double covers"
    assert any("no network of depth 1" in name for name in made)


def test_no_graph_of_another_class(context: Context) -> None:
    with torch.no_grad():
        context.classifier.model.head.bias.copy_(torch.tensor([-9.0, 9.0]))
    # Everything is "dense" now, so that there is no graph of another class left to join to.
    found, asked, _ = lookalike_findings(plain(nx.complete_graph(4)), "a clique", 1, context)
    assert found == []
    assert "no graph of another class" in asked


def test_classes_of_whole_graphs_are_asked_about_as_they_are(context: Context) -> None:
    net = plain(nx.complete_bipartite_graph(3, 3))
    whole = Pattern("dense", "square nets", {"K3,3": net}, whole=True)
    ruled = replace(context, patterns=(whole,))
    found, asked, _ = lookalike_findings(whole.first, "a square net", 1, ruled)
    assert "hosts" not in asked
    assert found[0].numbers["fooling"] == found[0].numbers["look-alikes"]
    assert {graph.num_nodes for graph in found[0].graphs} <= {6, 12}


def test_what_a_random_graph_in_twenty_does_is_no_finding(context: Context) -> None:
    # A clique of four has one cover without a triangle, and some random graphs have none either.
    found, asked, rates = lookalike_findings(plain(nx.complete_graph(4)), "K4", 1, context)
    assert "look-alikes that pass" in asked
    assert rates["double covers"] > rates["random graphs"] > 0
    assert found == []


def test_nothing_to_imitate_is_no_finding(context: Context) -> None:
    found, asked, rates = lookalike_findings(plain(nx.path_graph(3)), "a path", 0, context)
    assert found == []
    assert rates == {}
    assert "no look-alikes" in asked


def test_certain_and_wrong(context: Context) -> None:
    square = make_explanation(SPEC, target=1, edges=SQUARE)
    found = disagreements(square, context)[0][0]
    assert found.severity is Severity.HIGH
    assert "where the rule of the data set says" in found.title
    assert {int(one.y) for one in found.graphs} == {0}
    right, asked = disagreements(make_explanation(SPEC, target=0, edges=SQUARE), context)
    assert right == []
    assert "contradicts 0 of 2 distinct graphs" in asked
    found, asked = disagreements(square, replace(context, oracle=None))
    assert found == []
    assert "there is no rule to ask" in asked


def test_a_rule_of_thumb_says_so(context: Context) -> None:
    square = make_explanation(SPEC, target=1, edges=SQUARE)
    finding = disagreements(square, replace(context, rule_agreement=0.9))[0][0]
    assert finding.severity is Severity.MEDIUM
    assert "agrees with 90% of the labels" in finding.sentence
    assert "Find out what the graphs are and add them to the training data" in finding.sentence
    assert "Add the graphs to the training data" in disagreements(square, context)[0][0].sentence


def test_what_contradicts_a_rule_of_thumb_is_no_proof(context: Context) -> None:
    thumb = replace(context, rule_agreement=0.9)
    net = plain(nx.complete_bipartite_graph(3, 3))
    said = [lookalike_findings(net, "a net", 1, one)[0][0].sentence for one in (context, thumb)]
    assert ["Train with these graphs" in words for words in said] == [True, False]
    assert "by a rule of thumb none of them is one" in said[1]
    assert "Find out what these graphs are" in said[1]
    # One edge less than a clique of four is sparse to the model, and still has a triangle.
    clique = make_explanation(SPEC, target=1, edges=K4)
    turned = replace(context, oracle=lambda _: 1)
    thumb = replace(turned, rule_of_thumb=True)
    said = [small_change_findings(clique, one)[0][0].sentence for one in (turned, thumb)]
    assert "so the border is in the wrong place here. Add the changed graph" in said[0]
    assert "so the border may be in the wrong place here. Find out" in said[1]


def test_out_of_distribution_is_less_grave(context: Context) -> None:
    square = make_explanation(SPEC, target=1, edges=SQUARE, percentile=3.0)
    assert disagreements(square, context)[0][0].severity is Severity.MEDIUM


def test_small_changes_against_the_rule(context: Context) -> None:
    clique = make_explanation(SPEC, target=1, edges=K4)
    found, asked = small_change_findings(clique, context)
    assert asked.startswith("dense: ")
    if found:
        assert found[0].kind is Kind.SMALL_CHANGE
        assert found[0].numbers["new class"] == "sparse"


def test_an_explanation_of_another_class_is_not_changed(context: Context) -> None:
    wrong = make_explanation(SPEC, target=1, edges={(0, 1): SURE, (1, 2): SURE})
    found, asked = small_change_findings(wrong, context)
    assert found == []
    assert asked == "dense: no graph of the class to change"


def test_no_default_class(context: Context) -> None:
    found, asked = default_class(context)
    assert found == []
    # By hand: the model says "dense" where the mean degree is above two.
    graphs = random_questions(context)
    share = sum(graph.num_edges / graph.num_nodes > 2 for graph in graphs) / len(graphs)
    assert 0.5 < share < 0.8
    assert asked == f"random graphs: {share:.0%} of 300 are said to be \u201cdense\u201d"


def test_default_class(context: Context) -> None:
    with torch.no_grad():
        context.classifier.model.head.bias.copy_(torch.tensor([-9.0, 9.0]))
    found, _ = default_class(context)
    assert found[0].kind is Kind.DEFAULT_CLASS
    assert found[0].target == "dense"
    assert found[0].severity is Severity.LOW
    # By hand: the bias says "dense" where 8 d + 18 > 0, d the mean degree, so always.
    assert found[0].numbers["share"] == 1.0
    assert found[0].numbers["random graphs"] == len(random_questions(context)) == 300
    right = sum(map(has_triangle, random_questions(context))) / 300
    assert found[0].numbers["wrong by rule"] == pytest.approx(1 - right, abs=1e-4)
    turned = replace(context, oracle=lambda _: 0)
    assert default_class(turned)[0][0].severity is Severity.MEDIUM
    asked = iter(range(1000))
    nearly = replace(context, oracle=lambda _: int(next(asked) > 0))
    assert "the model is right on 99.7% of those" in default_class(nearly)[0][0].sentence
    assert "wrong by rule" not in default_class(replace(context, oracle=None))[0][0].numbers


def test_a_rule_that_fails_is_told(context: Context) -> None:
    graph = plain(nx.path_graph(3))
    with pytest.raises(DataError, match="oracle must give a class from 0 to 1"):
        replace(context, oracle=lambda _: 7).class_by_rule(graph)
    with pytest.raises(DataError, match="oracle failed on a graph with 3 nodes"):
        replace(context, oracle=lambda g: g.nothing.size()).class_by_rule(graph)


def test_truth_is_attached_where_known(context: Context, random_data: list[Data]) -> None:
    assert context.labeled(random_data[0], 1).y.tolist() == [1]
    assert replace(context, oracle=None).labeled(random_data[0]).get("y") is None
