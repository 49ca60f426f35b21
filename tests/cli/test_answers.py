"""The table and the JSON document of hand-made explanations."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gnninterpreter.cli.output import echo_json, echo_table, with_graphs
from gnninterpreter.evidence import Check
from gnninterpreter.evidence.evidence import HAS_NO_CORE
from gnninterpreter.evidence.patterns import Core, Exemplar
from gnninterpreter.evidence.patterns.core import Effect
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.isomorphism import same_graph
from gnninterpreter.spec import GraphSpec
from tests.report.conftest import make_result


@pytest.fixture
def result():
    """A run whose first class has every answer, and whose second has none."""
    found = make_result(GraphSpec(class_names=("chain", "ring")))
    chain = found["chain"]
    core = Core(
        chain.best, found.spec, 0.9987, True, coverage=0.78, lift=4.13, matched=39, total=50,
        others=9, necessity=Effect(0.34, 0.1, 20), sufficiency=Effect(0.42, 0.05, 20),
    )  # fmt: skip
    unseen = core.with_(probability=0.99996, coverage=0.0, matched=0, total=2401)
    masks = [[node < 3 for node in range(5)], [False] * 5]
    real = [Exemplar(n, chain.best, found.spec, 1.0, tuple(m), 0) for n, m in enumerate(masks)]
    check = Check("typical", True, "how typical it is", 61.0, 10)
    chain = replace(
        chain, cores=[core], shortcuts=[unseen], real_graphs=real,
        evidence=chain.evidence.with_check(check),
    )  # fmt: skip
    return replace(found, explanations={**found.explanations, "chain": chain})


def test_the_table_has_prototype_typical_and_core(result, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    echo_table(result)
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if "prototype" in line)
    assert [head.index(name) for name in ("class", "prototype", "typical", "core", "verdict")] == (
        sorted(head.index(name) for name in ("class", "prototype", "typical", "core", "verdict"))
    )
    chain, ring = (next(line for line in lines if f"│ {name}" in line) for name in result)
    assert [cell.strip() for cell in chain.split("│")[2:6]] == [
        "0.995", "5 / 5", "61%", "78%, x 4.1",
    ]  # fmt: skip
    assert [cell.strip() for cell in ring.split("│")[4:6]] == ["not checked", "not checked"]
    below = lines[lines.index(next(line for line in lines if line.startswith("shortcuts"))) + 1 :]
    assert below == [
        "  chain: 5 nodes, 5 edges: 0 of 2,401 real graphs that the model gives to the class "
        "contain this; the model gives it 1.000."
    ]


def test_a_class_without_a_core_has_none_and_what_counts_tell(result, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    evidence = result["ring"].evidence.with_check(Check("core covers", None, HAS_NO_CORE))
    evidence = evidence.with_check(Check("counts", True, "all of them have exactly one ring"))
    ring = replace(result["ring"], evidence=evidence)
    echo_table(replace(result, explanations={**result.explanations, "ring": ring}))
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if "│ ring" in line)
    assert row.split("│")[5].strip() == "none"
    assert "ring: all of them have exactly one ring" in lines


def test_the_json_document_has_all_answers(result, capsys):
    echo_json(with_graphs(result))
    chain, ring = json.loads(capsys.readouterr().out)["classes"]
    assert chain["typical_percentile"] == 61.0
    core = chain["cores"][0]
    assert same_graph(
        graph_from_json(core["graph"], result.spec), result["chain"].best, result.spec
    )
    assert (core["coverage"], core["matched"], core["total"], core["others"]) == (0.78, 39, 50, 9)
    assert core["necessity"] == {"value": 0.34, "control": 0.1, "graphs": 20}
    assert chain["shortcuts"][0]["matched"] == 0
    assert [sum(real["mask"]) for real in chain["exemplars"]] == [3, 0]
    assert (ring["typical_percentile"], ring["cores"], ring["shortcuts"]) == (None, [], [])
    assert ring["exemplars"] == []
    assert all("kind" in mode for mode in ring["modes"])
