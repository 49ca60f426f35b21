"""The row a data set makes in a table."""

from __future__ import annotations

import json

import pytest

from gnninterpreter.datasets import load, summarize


def test_figures_by_hand(tmp_path):
    dataset = load("color_consistency", tmp_path, base="synthetic", num_graphs=12)
    row = summarize(dataset)
    graphs = list(dataset)
    assert row["graphs"] == 12
    assert row["mean_nodes"] == pytest.approx(sum(graph.num_nodes for graph in graphs) / 12)
    assert row["mean_edges"] == pytest.approx(sum(graph.num_edges for graph in graphs) / 24)
    assert row["classes"] == {
        "consistent": sum(int(graph.y) == 0 for graph in graphs),
        "inconsistent": sum(int(graph.y) == 1 for graph in graphs),
    }
    assert row["node_features"] == ["red", "green", "blue"]
    assert row["edge_features"][3:] == ["yellow", "cyan", "magenta"]
    assert row["oracle_agreement"] == 1.0
    assert row["metadata"]["base"] == "synthetic"
    assert json.loads(json.dumps(row)) == row
    assert summarize(dataset, oracle_graphs=0)["oracle_agreement"] is None
