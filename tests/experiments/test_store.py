"""The store: values computed once, under everything they depend on."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gnninterpreter.experiments import store as module
from gnninterpreter.experiments.paper.computations import computation
from gnninterpreter.experiments.store import Computation, Store

CHEAP = computation("sizes", dataset="shape", whole=False)


def test_a_computation_is_its_function_and_arguments() -> None:
    one = computation("reach", 5.0, dataset="shape", target="star", max_nodes=5, width=10)
    other = computation("reach", 1.0, width=10, max_nodes=5, target="star", dataset="shape")
    assert one == other
    assert len({one, other}) == 1
    assert one != computation("reach", dataset="shape", target="star", max_nodes=6, width=10)


def test_a_value_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    first = store.fetch(CHEAP)
    assert first["mean_nodes"] == pytest.approx(30, abs=1)
    monkeypatch.setattr(Computation, "compute", lambda self: pytest.fail("computed again"))
    assert store.fetch(CHEAP) == first
    assert store.missing([CHEAP]) == []


def test_a_change_of_code_is_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.fetch(CHEAP)
    assert store.missing([CHEAP]) == []
    monkeypatch.setattr(module, "code_fingerprint", lambda name: "other constants")
    assert store.missing([CHEAP]) == [CHEAP]
    monkeypatch.setattr(Computation, "compute", lambda self: "new")
    assert store.fetch(CHEAP) == "new"


def test_the_key_has_the_model_and_the_recipe() -> None:
    from gnninterpreter.fingerprints import model_fingerprint

    arguments = {
        "dataset": "mutag", "target": "mutagen", "recipe": "auto", "seed": 0, "restarts": 1,
        "term": None, "measured": False,
    }  # fmt: skip
    long, short = (computation("ours", iterations=n, **arguments).inputs() for n in (None, 3))
    assert long["model"] == model_fingerprint("mutag")
    assert long["recipe"] != short["recipe"]


def test_other_versions_count_only_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = Store(tmp_path).fetch(CHEAP)
    monkeypatch.setattr(module, "versions", lambda: {"torch": "0.1"})
    assert Store(tmp_path).read(CHEAP) is None
    assert Store(tmp_path, any_version=True).read(CHEAP) == value


def test_a_damaged_file_is_computed_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.path(CHEAP).write_text("{", encoding="utf-8")
    assert store.missing([CHEAP]) == [CHEAP]
    assert store.fetch(CHEAP)["mean_nodes"] > 0


def test_a_kill_in_the_middle_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*args: object, **kwargs: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.json, "dumps", _only_inputs(json.dumps, killed))
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).fetch(CHEAP)
    assert list(tmp_path.iterdir()) == []


def _only_inputs(real, killed):
    return lambda value, **options: (killed if "value" in value else real)(value, **options)


def test_several_may_store_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        values = list(pool.map(Store(tmp_path).fetch, [CHEAP] * 8))
    assert values == [values[0]] * 8
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


def test_the_dearest_comes_first_and_each_once(tmp_path: Path) -> None:
    dear = computation("nitro", 9.0, atoms="uniform", count=1, seed=0)
    assert Store(tmp_path).missing([CHEAP, dear, CHEAP]) == [dear, CHEAP]
