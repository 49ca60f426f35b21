from __future__ import annotations

import json

from gnninterpreter.models import bundled_names, load


def test_table_lists_every_model(cli):
    code, out, err = cli("models")
    assert (code, err) == (0, "")
    for name in bundled_names():
        assert name in out
        for figure, value in load(name).scores["test"].figures.items():
            assert f"{figure} {value:.3f}" in out


def test_json(cli):
    code, out, _ = cli("models", "--json")
    assert code == 0
    listed = {entry["name"]: entry for entry in json.loads(out)}
    assert set(listed) == set(bundled_names())
    shape = listed["shape"]
    assert shape["dataset"] == "shape"
    assert shape["classes"] == ["others", "lollipop", "wheel", "grid", "star"]
    assert shape["parameters"] > 0
    assert 0.9 < shape["scores"]["test"]["accuracy"] <= 1
    assert len(shape["scores"]["test"]["f1"]) == 5
