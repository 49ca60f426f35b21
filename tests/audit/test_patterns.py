"""The patterns that define classes, judged by the rules, and whether a model sees them."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import gnninterpreter as gi
from gnninterpreter.audit import Kind, Pattern, Severity, true_patterns
from gnninterpreter.audit.context import Context, host_graphs
from gnninterpreter.audit.missed import contrasts, missed_findings
from gnninterpreter.evidence.joining import join_each
from gnninterpreter.models import GraphClassifier
from tests.audit.conftest import SPEC, has_triangle, plain

HELD = {"motif", "cyclicity", "is_acyclic", "shape", "mutag", "color_consistency"}


@pytest.mark.parametrize("name", sorted(HELD))
def test_the_rule_agrees_with_the_patterns(name: str) -> None:
    """Put into a graph of the classes it may go into, each makes the graph one of its class."""
    rule = gi.datasets.dataset_class(name)
    bundle = gi.models.load(name)
    classifier = GraphClassifier(bundle.model, bundle.spec)
    if name == "mutag":
        gi.datasets.load(name)  # random graphs would stand in for molecules that are not here
    pool, _ = host_graphs(classifier, None, name, 60, seed=1)
    for pattern in true_patterns(name=name):
        target = rule.spec.class_index(pattern.class_name)
        hosts = [h for h in pool if rule.spec.class_names[rule.oracle(h)] in pattern.hosts]
        for graph in pattern.variants.values():
            if pattern.whole:
                assert rule.oracle(graph) == target
                continue
            assert hosts
            made = pasted(pattern, graph, hosts, rule.spec)
            agreed = sum(rule.oracle(one) == target for one in made) / len(made)
            # A tree does not make a cyclic graph acyclic: there the rule must stay with cyclic.
            assert agreed >= 0.9 or (pattern.class_name == "acyclic" and agreed == 0)
            assert all(
                one.num_nodes >= host.num_nodes for one, host in zip(made, hosts, strict=True)
            )


def pasted(pattern: Pattern, graph: Data, hosts: list[Data], spec: object) -> list[Data]:
    if pattern.paste is None:
        return join_each(spec, hosts, graph, 0)
    return [pattern.paste(h, graph, np.random.default_rng(n)) for n, h in enumerate(hosts)]


def test_a_nitro_group_goes_to_any_atom_where_there_is_no_carbon() -> None:
    (pattern,) = true_patterns(name="mutag")
    oxygens = Data(x=torch.eye(7)[[2, 2]], edge_index=torch.tensor([[0, 1], [1, 0]]))
    (made,) = pasted(pattern, pattern.variants["one nitro group"], [oxygens], None)
    assert made.x.argmax(1).tolist() == [2, 2, 1, 2, 2]
    joined = {tuple(pair) for pair in made.edge_index.t().tolist()}
    assert joined >= {(2, 3), (2, 4)}
    assert len(joined & {(0, 2), (1, 2)}) == 1


def test_as_many_edges_are_spoiled_as_said() -> None:
    from gnninterpreter.datasets.color_consistency import ColorConsistency, inconsistent_edges

    bundle = gi.models.load("color_consistency")
    classifier = GraphClassifier(bundle.model, bundle.spec)
    pool, _ = host_graphs(classifier, None, "color_consistency", 20, seed=1)
    (pattern,) = true_patterns(name="color_consistency")
    consistent = [graph for graph in pool if ColorConsistency.oracle(graph) == 0]
    for count, part in enumerate(pattern.variants.values(), start=1):
        for made in pasted(pattern, part, consistent, bundle.spec):
            assert int(inconsistent_edges(made).sum()) == 2 * count
    assert all(int(inconsistent_edges(graph).sum()) == 0 for graph in consistent)


def test_nitro_groups_hang_on_carbons() -> None:
    from gnninterpreter.datasets.mutag import nitro_groups

    (pattern,) = true_patterns(name="mutag")
    ring = plain(nx.cycle_graph(6))
    ring.x = torch.eye(7)[[0] * 6]
    for count, part in enumerate(pattern.variants.values(), start=1):
        (made,) = pasted(pattern, part, [ring], None)
        assert nitro_groups(made) == count
        assert nx.is_connected(nx.Graph(made.edge_index.t().tolist()))


def test_a_data_set_may_bring_its_own() -> None:
    own = Pattern("dense", "triangles", {"a triangle": plain(nx.complete_graph(3))})
    holder = type("Own", (list,), {"patterns": (own,)})()
    assert true_patterns(holder, "motif") == (own,)
    assert true_patterns([], "unheard of") == ()
    assert {p.class_name for p in true_patterns([], "motif")} == {
        "house", "house-x", "complete-4", "complete-5",
    }  # fmt: skip


def test_a_pattern_that_is_not_seen_is_a_finding(context: Context) -> None:
    # A triangle makes a path "dense" by the rule; the mean degree stays at two at most.
    triangle = Pattern(
        "dense", "triangles", {"a triangle": plain(nx.complete_graph(3))}, ("sparse",)
    )
    found, asked = missed_findings(triangle, context)
    finding = found[0]
    assert finding.kind is Kind.MISSED
    assert finding.severity is Severity.HIGH
    assert finding.title == "Misses triangles in most graphs"
    assert finding.numbers["wrong share"] == 1.0
    assert len(finding.graphs) == finding.numbers["hosts"] == len(context.hosts)
    assert {int(graph.y) for graph in finding.graphs} == {1}
    assert asked == (
        "triangles: wrong about 6 of 6 graphs with one put in, most often with a triangle (100%)"
    )


def test_one_of_several_sizes_misleads(context: Context) -> None:
    sizes = {f"K{n}": plain(nx.complete_graph(n)) for n in (3, 8)}
    cliques = Pattern("dense", "cliques", sizes, ("sparse",))
    said = missed_findings(cliques, context)[0][0].sentence
    assert "Of 2 sizes and shapes that were tried, 1 misleads it" in said
    assert "Train with such graphs (they come with the audit), or" in said
    thumb = missed_findings(cliques, replace(context, rule_of_thumb=True))[0][0].sentence
    assert "Find out what such graphs are (they come with the audit) and train" in thumb


def test_what_the_rule_and_the_model_agree_on_is_none(context: Context) -> None:
    clique = Pattern("dense", "cliques", {"K8": plain(nx.complete_graph(8))}, ("sparse",))
    found, asked = missed_findings(clique, context)
    assert found == []
    assert "wrong about 0 of 6" in asked


def test_something_that_misleads_is_told_from_something_missed(context: Context) -> None:
    cube = Pattern("dense", "cubes", {"a cube": plain(nx.hypercube_graph(3))}, ("sparse",))
    finding = missed_findings(cube, context)[0][0]
    assert finding.title == "Cubes make it say “dense” wrongly"
    assert {int(graph.y) for graph in finding.graphs} == {0}


def test_members_of_families_are_asked_about_as_they_are(context: Context) -> None:
    rings = {f"K{n}": plain(nx.complete_graph(n)) for n in (3, 4, 5, 6)}
    whole = Pattern("dense", "cliques", rings, whole=True)
    finding = missed_findings(whole, context)[0][0]
    # A triangle has a mean degree of two exactly, which the model calls sparse.
    assert finding.numbers == {
        "wrong share": 0.25, "wrong graphs": 1, "graphs asked": 4, "variants": 4,
    }  # fmt: skip
    assert finding.severity is Severity.MEDIUM


def test_contrasts_hold_the_pattern(context: Context) -> None:
    triangle = Pattern("dense", "triangles", {"a triangle": plain(nx.complete_graph(3))})
    made = contrasts(triangle, context)
    assert len(made) == len(context.hosts)
    assert all(has_triangle(graph) == int(graph.y) == 1 for graph in made)
    assert contrasts(replace(triangle, whole=True), context) == []


def test_nothing_without_a_rule_or_a_host(context: Context) -> None:
    triangle = Pattern(
        "dense", "triangles", {"a triangle": plain(nx.complete_graph(3))}, ("dense",)
    )
    assert missed_findings(triangle, context)[0] == []
    assert missed_findings(triangle, replace(context, oracle=None))[0] == []
    assert SPEC.class_names == ("sparse", "dense")
