"""Each question of the audit by itself, on a model whose every answer is known."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.audit.changes import small_change_findings, smallest_change
from gnninterpreter.audit.context import Context
from gnninterpreter.audit.default_class import default_class
from gnninterpreter.audit.disagreement import disagreements
from gnninterpreter.audit.findings import Kind, Severity
from gnninterpreter.audit.flips import flip_rate, lookalike_findings
from gnninterpreter.audit.hosts import attach, host_graphs
from gnninterpreter.audit.lookalikes import covers
from gnninterpreter.errors import DataError
from tests.audit.conftest import SPEC, plain
from tests.report.conftest import SURE, make_explanation
from tests.tiny import RICH, graph

SQUARE = {(0, 1): SURE, (1, 2): SURE, (2, 3): SURE, (0, 3): SURE}
K4 = {**SQUARE, (0, 2): SURE, (1, 3): SURE}


def test_joining_two_graphs_adds_one_edge() -> None:
    host, part = plain(nx.path_graph(4)), plain(nx.cycle_graph(3))
    joined = attach(host, part, torch.Generator().manual_seed(0))
    assert joined.num_nodes == 7
    assert joined.edge_index.size(1) == 2 * (3 + 3 + 1)
    assert nx.is_connected(nx.Graph(joined.edge_index.t().tolist()))


def test_the_new_edge_has_features_of_the_host() -> None:
    host, part = plain(nx.path_graph(3)), plain(nx.path_graph(2))
    host.edge_attr, part.edge_attr = torch.full((4, 2), 3.0), torch.ones(2, 2)
    joined = attach(host, part, torch.Generator().manual_seed(0))
    assert joined.edge_attr.tolist() == [[3.0, 3.0]] * 4 + [[1.0, 1.0]] * 2 + [[3.0, 3.0]] * 2


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

    monkeypatch.setattr("gnninterpreter.audit.hosts.load", missing)
    assert host_graphs(context.classifier, None, "mutag", 4, seed=0)[1] == "random graphs"


def test_flips_count_only_where_the_rule_disagrees(context: Context) -> None:
    cube = plain(nx.hypercube_graph(3))
    tight = plain(nx.complete_graph(6))
    fooled = flip_rate(cube, 1, context.hosts, context)
    right = flip_rate(tight, 1, context.hosts, context)
    assert fooled.rate == fooled.says > 0
    assert all(int(found.y) == 0 for found in fooled.fooled)
    assert right.says > 0
    assert right.rate == 0


def test_lookalikes_that_fool_are_a_finding(context: Context) -> None:
    source = plain(nx.complete_graph(4))
    found, asked = lookalike_findings(source, "a clique", 1, context, covers)
    assert "look-alikes pass" in asked
    finding = found[0]
    assert finding.kind is Kind.LOOKALIKE
    assert finding.target == "dense"
    assert finding.numbers["strongest flip rate"] > 0
    assert all(int(one.y) == 0 for one in finding.graphs)


def test_without_a_rule_nothing_is_proved(context: Context) -> None:
    unruled = replace(context, oracle=None)
    found, _ = lookalike_findings(plain(nx.complete_graph(5)), "a clique", 1, unruled, covers)
    assert found[0].severity is Severity.MEDIUM
    assert all(one.get("y") is None for one in found[0].graphs)


def test_a_rule_of_thumb_proves_less(context: Context) -> None:
    assert context.gravest is Severity.HIGH
    assert replace(context, rule_agreement=0.9).gravest is Severity.MEDIUM


def test_nothing_to_imitate_is_no_finding(context: Context) -> None:
    found, asked = lookalike_findings(plain(nx.path_graph(3)), "a path", 0, context, covers)
    assert found == []
    assert "no look-alike" in asked


def test_certain_and_wrong(context: Context) -> None:
    square = make_explanation(SPEC, target=1, edges=SQUARE)
    found = disagreements(square, context)[0]
    assert found.severity is Severity.HIGH
    assert "where the rule says" in found.title
    assert {int(one.y) for one in found.graphs} == {0}
    assert disagreements(make_explanation(SPEC, target=0, edges=SQUARE), context) == []
    assert disagreements(square, replace(context, oracle=None)) == []


def test_out_of_distribution_is_less_grave(context: Context) -> None:
    square = make_explanation(SPEC, target=1, edges=SQUARE, percentile=3.0)
    assert disagreements(square, context)[0].severity is Severity.MEDIUM


def test_one_change_is_found_exactly(context: Context) -> None:
    # A ring of five has mean degree two exactly, so that any chord makes it dense.
    ring = graph(5, [(i, (i + 1) % 5) for i in range(5)], SPEC, dtype=torch.float32)
    path = graph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)], SPEC, dtype=torch.float32)
    back = smallest_change(path, 1, context)
    assert back is not None
    assert len(back.changes) == 1
    assert back.label == 0
    assert smallest_change(ring, 0, context, most=1) is not None


def test_more_changes_are_found_by_steps(context: Context) -> None:
    path = graph(6, [(i, i + 1) for i in range(5)], SPEC, dtype=torch.float32)
    found = smallest_change(path, 0, context)
    assert found is not None
    assert len(found.changes) == 2
    assert found.label == 1
    assert nx.is_connected(nx.Graph(found.graph.edge_index.t().tolist()))
    assert smallest_change(path, 0, context, most=1) is None


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
    assert asked.startswith("random graphs: ")


def test_default_class(context: Context) -> None:
    with torch.no_grad():
        context.classifier.model.head.bias.copy_(torch.tensor([-9.0, 9.0]))
    found, _ = default_class(context)
    assert found[0].kind is Kind.DEFAULT_CLASS
    assert found[0].target == "dense"
    assert found[0].severity is Severity.LOW
    assert found[0].numbers["share"] > 0.9
    turned = replace(context, oracle=lambda _: 0)
    assert default_class(turned)[0][0].severity is Severity.MEDIUM
    assert "wrong by rule" not in default_class(replace(context, oracle=None))[0][0].numbers


def test_words_for_changes_of_features() -> None:
    from gnninterpreter.audit.changes import _words
    from gnninterpreter.optim.moves import MoveSpace

    start = graph(3, [(0, 1)], replace(RICH, nodes=RICH.nodes[:1]), colours=[0, 1, 0])
    space = MoveSpace(start.spec, 3, torch.device("cpu"))
    said = [_words(space, start, move) for move in range(space.total)]
    assert said[0] == "take out the edge between nodes 1 and 0"
    assert "hang a new node on node 0" in said
    assert "make node 0 1" in said
    assert "make the edge between nodes 1 and 0 2" in said
    assert said[-1] == "take out node 2"


def test_truth_is_attached_where_known(context: Context, random_data: list[Data]) -> None:
    assert context.labelled(random_data[0], 1).y.tolist() == [1]
    assert replace(context, oracle=None).labelled(random_data[0]).get("y") is None
