from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.errors import SpecError
from gnninterpreter.experiments.paper import STUDIES, Settings, compute, units_of
from gnninterpreter.experiments.paper import units as kept
from gnninterpreter.experiments.paper.records import graph_from_json, graph_to_json
from gnninterpreter.experiments.paper.units import Store, unit

CHEAP = unit("sizes", dataset="shape", whole=False)


def test_a_unit_is_its_kind_and_arguments():
    one = unit("reach", 5.0, dataset="shape", target="star", max_nodes=5, width=10)
    other = unit("reach", 1.0, width=10, max_nodes=5, target="star", dataset="shape")
    assert one == other
    assert len({one, other}) == 1
    assert one != unit("reach", dataset="shape", target="star", max_nodes=6, width=10)


def test_the_key_has_the_weights_of_the_model(tmp_path, monkeypatch):
    store = Store(tmp_path)
    before = store.path(CHEAP)
    assert kept.fingerprint("shape") in json.dumps(CHEAP.inputs())
    monkeypatch.setattr(kept, "fingerprint", lambda dataset: "other weights")
    assert store.path(CHEAP) != before


def test_the_key_has_the_recipe(tmp_path):
    arguments = {
        "dataset": "mutag", "target": "mutagen", "recipe": "auto", "seed": 0, "restarts": 1,
        "term": None, "measured": False,
    }  # fmt: skip
    long, short = (unit("ours", iterations=n, **arguments).inputs() for n in (None, 3))
    assert long["recipe"] != short["recipe"]


def test_a_value_is_computed_once(tmp_path, monkeypatch):
    store = Store(tmp_path)
    first = store.fetch(CHEAP)
    assert first["mean_nodes"] == pytest.approx(30, abs=1)
    monkeypatch.setattr(kept.Unit, "compute", lambda self: pytest.fail("computed again"))
    assert store.fetch(CHEAP) == first
    assert store.missing([CHEAP]) == []


def test_a_damaged_file_is_computed_again(tmp_path):
    store = Store(tmp_path)
    store.path(CHEAP).write_text("{", encoding="utf-8")
    assert store.read(CHEAP) is None
    assert store.fetch(CHEAP)["mean_nodes"] > 0


def test_the_dearest_unit_comes_first_and_each_once(tmp_path):
    dear, cheap = unit("nitro", 9.0, atoms="uniform", count=1, seed=0), CHEAP
    assert Store(tmp_path).missing([cheap, dear, cheap]) == [dear, cheap]


@pytest.mark.parametrize("quick", [True, False])
def test_every_study_names_its_units(quick):
    found = units_of(STUDIES, Settings(quick))
    assert len(found) == len(set(found))
    costs = [work.cost for work in found]
    assert costs == sorted(costs, reverse=True)


def test_the_full_run_has_the_paper_s_numbers():
    found = [dict(work.arguments) | {"kind": work.kind} for work in units_of(STUDIES, Settings())]
    auto = [u for u in found if u.get("recipe") == "auto" and u["restarts"] == 8]
    assert len({(u["dataset"], u["target"]) for u in auto}) == 17
    assert {u["seed"] for u in auto} == set(range(10))
    assert {u["bases"] for u in found if u["kind"] == "attach"} == {5000}
    assert {u["count"] for u in found if u["kind"] == "nitro"} == {1000}
    letter = [u for u in found if u.get("recipe") == "paper" and u["restarts"] == 10]
    assert len(letter) == 17
    assert {u["iterations"] for u in letter} == {2000}
    ablated = {(u["dataset"], u["target"]) for u in found if u.get("term") is not None}
    assert len(ablated) == 17


def test_compute_leaves_what_is_there_and_says_how_much(tmp_path):
    said: list[str] = []
    assert compute(tmp_path, quick=True, only=["statistics"]) == 6
    assert compute(tmp_path, quick=True, only=["statistics"], say=said.append) == 0
    assert said == ["6 of 6 units are there"]
    with pytest.raises(SpecError, match="jobs"):
        compute(tmp_path, jobs=0)
    with pytest.raises(SpecError, match="poetry"):
        compute(tmp_path, only=["poetry"])


BARE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("matplotlib", "typer", "rich"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from gnninterpreter.experiments.paper import compute
print(compute(sys.argv[1], quick=True, only=["statistics"]))
assert not {"matplotlib", "pandas", "typer", "rich"} & set(sys.modules), sys.modules.keys()
"""


@pytest.mark.slow
def test_computing_needs_neither_drawing_nor_command_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BARE, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "6", done.stderr


def test_graphs_survive_json():
    graph = Data(x=torch.eye(3)[:2], edge_index=torch.tensor([[0, 1], [1, 0]]))
    graph.edge_attr = torch.tensor([[1.0], [0.5]])
    again = graph_from_json(json.loads(json.dumps(graph_to_json(graph))))
    assert torch.equal(again.x, graph.x)
    assert torch.equal(again.edge_index, graph.edge_index)
    assert torch.equal(again.edge_attr, graph.edge_attr)
    empty = Data(x=torch.ones(1, 1), edge_index=torch.zeros(2, 0, dtype=torch.long))
    assert graph_from_json(graph_to_json(empty)).edge_index.shape == (2, 0)
