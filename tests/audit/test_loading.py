"""The graphs of a stored audit come back as they were, without pickle."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest
import torch

from gnninterpreter.audit import load_graphs
from gnninterpreter.audit.findings import Audit, Finding, Kind, Severity
from gnninterpreter.errors import DataError
from tests.audit.conftest import SPEC, plain
from tests.report.conftest import make_result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    graphs = [plain(nx.cycle_graph(5), 0), plain(nx.path_graph(700), 1), plain(nx.star_graph(3))]
    findings = tuple(
        Finding(Kind.LOOKALIKE, severity, "dense", "t", "s", graphs=tuple(some))
        for severity, some in ((Severity.HIGH, graphs[:2]), (Severity.LOW, graphs[2:]))
    )
    found = Audit(make_result(SPEC), findings, contrasts=(plain(nx.complete_graph(4), 1),))
    (tmp_path / "audit.json").write_text(json.dumps(found.to_json()))
    return tmp_path


def test_all_of_them_from_folder_or_file(folder: Path) -> None:
    graphs = load_graphs(folder)
    assert [graph.num_nodes for graph in graphs] == [5, 700, 4]
    assert [graph.num_edges for graph in graphs] == [10, 1398, 6]
    assert torch.equal(graphs[0].x, torch.ones(5, 1))
    assert int(graphs[1].y) == 1
    assert len(load_graphs(str(folder / "audit.json"))) == 3


def test_the_grave_and_the_labeled_ones(folder: Path) -> None:
    assert len(load_graphs(folder, "high")) == 2
    assert len(load_graphs(folder, labeled=True)) == 2
    assert [g.num_nodes for g in load_graphs(folder, "high", contrasts=True)] == [5, 700, 4]
    with pytest.raises(DataError, match="high, medium, low"):
        load_graphs(folder, "grave")


def test_what_is_no_audit(tmp_path: Path) -> None:
    file = tmp_path / "audit.json"
    with pytest.raises(DataError, match="--out"):
        load_graphs(tmp_path)
    for text, said in (
        ("{", "no JSON"),
        ("[]", "no audit"),
        ('{"kind": "gnninterpreter audit"}', "without the graphs"),
        ('{"kind": "gnninterpreter audit", "spec": 3, "findings": []}', "damaged"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=said):
            load_graphs(file)
