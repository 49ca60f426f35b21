"""The audit as a whole, on a bundled model and on one nobody knows a rule for."""

from __future__ import annotations

import json
import sys

import pytest

import gnninterpreter as gi
from gnninterpreter.audit import Audit, Kind, Pattern, Severity, audit
from gnninterpreter.errors import DataError, SpecError, TargetError
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.search import Recipe
from tests.tiny import trained_shapes


@pytest.fixture(scope="module")
def motif() -> Audit:
    bundle = gi.models.load("motif")
    run = gi.explain(bundle, targets="complete-4", restarts=2, progress=False)
    return audit(bundle, explanations=run, hosts=30)


@pytest.fixture(scope="module")
def unknown() -> Audit:
    model, graphs = trained_shapes()
    quick = Recipe.auto(iterations=40)
    # What can be walked through once is enough.
    return audit(model, iter(graphs), hosts=12, restarts=2, recipe=quick, progress=False)


def test_data_that_can_be_read_once_is_kept(unknown: Audit) -> None:
    assert unknown.checked[0] == "graphs to join things to: 12 graphs of the data set"


def test_lookalikes_of_complete_4_fool_the_motif_model(motif: Audit) -> None:
    found = [f for f in motif.findings if f.kind is Kind.LOOKALIKE]
    assert found
    assert found[0].severity is Severity.HIGH
    assert found[0].numbers["mean flip rate"] > 0.5
    assert found[0].numbers["random flip rate"] < 0.2
    assert found[0].numbers["p-value"] < 0.001
    truth = gi.datasets.dataset_class("motif").oracle
    for graph in found[0].graphs[:10]:
        assert truth(graph) == int(graph.y) != 3


def test_findings_are_ranked(motif: Audit, unknown: Audit) -> None:
    for one in (motif, unknown):
        ranks = [finding.severity.rank for finding in one.findings]
        assert ranks == sorted(ranks)
    assert motif.at_least("high") == [f for f in motif.findings if f.severity is Severity.HIGH]
    assert len(motif.at_least("low")) == len(motif.findings)


def test_json_holds_the_graphs(motif: Audit) -> None:
    values = json.loads(json.dumps(motif.to_json()))
    assert values["schema"] == 1
    assert values["counts"]["high"] >= 1
    stored = values["findings"][0]["graphs"][0]
    again = graph_from_json(stored, motif.explanations.spec)
    assert int(again.y) == int(motif.findings[0].graphs[0].y)
    assert "graphs" not in motif.to_json(with_graphs=False)["findings"][0]


def test_the_same_seed_gives_the_same_findings(motif: Audit) -> None:
    bundle = gi.models.load("motif")
    again = audit(bundle, explanations=motif.explanations, hosts=30)
    said = [[(f.title, f.sentence) for f in one.findings] for one in (motif, again)]
    assert said[0] == said[1]


def test_every_family_is_measured(motif: Audit) -> None:
    rates = motif.numbers["flip rates"]["the true complete-4"]
    assert rates["double covers"] > 0.5 > rates["random graphs"]
    assert set(rates) >= {"double covers", "random graphs", "itself"}


def test_without_a_rule_there_is_no_counterexample(unknown: Audit) -> None:
    assert unknown.counterexamples() == []
    assert all(finding.severity is not Severity.HIGH for finding in unknown.findings)
    assert "there is no rule" in unknown.checked[1]


def test_contrasts_hold_the_true_motif(motif: Audit) -> None:
    truth = gi.datasets.dataset_class("motif").oracle
    assert motif.contrasts
    assert all(truth(graph) == int(graph.y) == 3 for graph in motif.contrasts[:20])


def test_counterexamples_have_labels(motif: Audit) -> None:
    found = motif.counterexamples()
    assert found
    assert all(graph.get("y") is not None for graph in found)


def test_hosts_must_be_positive() -> None:
    with pytest.raises(SpecError, match="hosts must be at least 1"):
        audit(gi.models.load("motif"), hosts=0)


def test_patterns_must_be_of_classes_that_exist() -> None:
    model, graphs = trained_shapes()
    run = audit(
        model, graphs, hosts=2, restarts=1, recipe=Recipe.auto(iterations=5), progress=False
    )
    with pytest.raises(TargetError, match="class 0"):
        audit(
            model,
            graphs,
            explanations=run.explanations,
            oracle=lambda _: 0,
            patterns=[Pattern("nonsense", "rings", {"one": graphs[0]})],
        )


def test_severity_limits() -> None:
    assert Severity.HIGH.at_most(Severity.MEDIUM) is Severity.MEDIUM
    assert Severity.LOW.at_most(Severity.MEDIUM) is Severity.LOW


def test_the_report_shows_the_findings(motif: Audit, tmp_path: object) -> None:
    from gnninterpreter.report.page import render_page

    page = render_page(motif.explanations, audit=motif)
    assert 'id="audit"' in page
    assert "Look-alikes of the true complete-4" in page
    assert page.count('class="card finding') == len(motif.findings)
    assert 'id="audit"' not in render_page(motif.explanations)


def test_a_model_by_its_name_and_a_seed_below_zero(motif: Audit) -> None:
    found = audit("motif", explanations=motif.explanations, hosts=3, seed=-1)
    assert found.numbers["seed"] == -1
    assert found.numbers["hosts"] == 3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"patterns": [3]}, r"patterns must be a list of Pattern \(got 3\)"),
        ({"patterns": "house"}, "patterns must be a list of patterns"),
        ({"seed": "a"}, "seed must be a whole number"),
        ({"explanations": "run"}, r"a result of gnninterpreter.explain \(got str\)"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_explained(
    wrong: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["gnninterpreter.audit.audit"], "explain", None)
    with pytest.raises(SpecError, match=said):
        audit("motif", **wrong)  # type: ignore[arg-type]


def test_a_severity_that_there_is_not(motif: Audit) -> None:
    assert len(motif.at_least("low")) == len(motif.findings)
    with pytest.raises(DataError, match=r"severity must be one of high, medium, low \(got 'bad'\)"):
        motif.at_least("bad")
