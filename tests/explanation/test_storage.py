"""Run folders: what is saved comes back equal, and what is damaged is named in one sentence."""

from __future__ import annotations

import json
import math
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import gnninterpreter as gi
from gnninterpreter.errors import CheckpointError, OutputError
from gnninterpreter.explanation import Curve, ExplanationSet, load_run, save_run, storage
from gnninterpreter.explanation.storage import check_folder, load_statistics, write_atomically
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec
from tests.explanation.made import MOLECULES, explanation, explanation_set
from tests.tiny import RICH, SPECS, distribution, graph


def made(spec: GraphSpec = MOLECULES, dtype: torch.dtype = torch.float32) -> ExplanationSet:
    return explanation_set(
        explanation(distribution(spec, 5, restarts=3, seed=1, dtype=dtype), 0, choice=2),
        explanation(distribution(spec, 4, restarts=2, seed=2, dtype=dtype), 1, [0.9, 0.2]),
    )


def assert_same(one: ExplanationSet, other: ExplanationSet) -> None:
    assert one.summary() == other.summary()
    assert one.spec == other.spec
    assert list(one) == list(other)
    for name in one:
        a, b = one[name], other[name]
        assert a.history == b.history
        assert a.best.x.dtype == b.best.x.dtype
        assert torch.equal(a.best.x, b.best.x)
        assert torch.equal(a.best.edge_index, b.best.edge_index)
        for x, y in zip(a.sample(20, seed=5), b.sample(20, seed=5), strict=True):
            assert torch.equal(x.x, y.x)
            assert torch.equal(x.edge_index, y.edge_index)
            assert (x.edge_attr is None) == (y.edge_attr is None)
            assert x.edge_attr is None or torch.equal(x.edge_attr, y.edge_attr)
        for x, y in zip(a.distribution.latents(), b.distribution.latents(), strict=True):
            assert torch.equal(x, y)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", SPECS)
def test_what_is_saved_comes_back_equal(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    before = made(SPECS[name], dtype)
    assert before.save(tmp_path / "run") == tmp_path / "run"
    assert_same(gi.load(tmp_path / "run"), before)


def test_a_run_is_two_files_without_any_pickle(tmp_path: Path) -> None:
    made().save(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["latents.safetensors", "run.json"]
    index = json.loads((tmp_path / "run.json").read_text())
    assert index["schema"] == storage.SCHEMA
    assert index["kind"] == "gnninterpreter run"


def test_what_is_not_a_number_is_null_in_the_file_and_comes_back(tmp_path: Path) -> None:
    result = made()
    broken = Curve("budget", [20], [[math.nan, math.inf, 1.0]])
    result[0].history.append(broken)
    result.metadata["error"] = math.nan

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    result.save(tmp_path)
    json.loads((tmp_path / "run.json").read_text(), parse_constant=refuse)
    again = gi.load(tmp_path)
    assert again.metadata["error"] is None
    curve = again[0].history[-1]
    assert curve.values[0][2] == 1.0
    assert math.isnan(curve.values[0][0])
    assert math.isnan(curve.values[0][1])


# --- class statistics ---------------------------------------------------------------------------


def statistics(seed: int = 0) -> ClassStatistics:
    generator = torch.Generator().manual_seed(seed)
    shapes = {"mean_embedding": (2, 4), "similarity_quantiles": (2, 101)}
    return ClassStatistics(
        **{
            part.name: torch.rand(shapes.get(part.name, (2,)), generator=generator)
            for part in fields(ClassStatistics)
        }
    )


def test_statistics_come_back_equal(tmp_path: Path) -> None:
    result, before = made(), statistics()
    save_run(result, tmp_path, statistics=before)
    after = load_statistics(tmp_path)
    assert after is not None
    for name, tensor in before.tensors().items():
        assert torch.equal(after.tensors()[name], tensor)
    assert_same(gi.load(tmp_path), result)


def test_statistics_that_the_result_carries_are_saved(tmp_path: Path) -> None:
    result, own = made(), statistics(1)
    result.statistics = own
    result.save(tmp_path)
    after = gi.load(tmp_path).statistics
    assert after is not None
    assert torch.equal(after.mean_embedding, own.mean_embedding)


def test_runs_without_statistics_load_as_before(tmp_path: Path) -> None:
    assert load_statistics(tmp_path) is None
    made().save(tmp_path)
    assert load_statistics(tmp_path) is None


def test_a_version_that_knows_no_statistics_reads_the_run_all_the_same(tmp_path: Path) -> None:
    # What it reads is the index and the tensors named by class and number: both are unchanged.
    made().save(tmp_path / "without")
    save_run(made(), tmp_path / "with", statistics=statistics())
    indices = [(tmp_path / name / "run.json").read_bytes() for name in ("without", "with")]
    assert indices[0] == indices[1]
    without, with_ = (load_file(tmp_path / n / storage.TENSORS) for n in ("without", "with"))
    assert set(without) < set(with_)
    assert all(torch.equal(with_[name], tensor) for name, tensor in without.items())


def test_damaged_statistics(tmp_path: Path) -> None:
    save_run(made(), tmp_path, statistics=statistics())
    tensors = load_file(tmp_path / storage.TENSORS)
    del tensors["statistics.count"]
    save_file(tensors, tmp_path / storage.TENSORS)
    with pytest.raises(CheckpointError, match="lack count"):
        load_statistics(tmp_path)
    (tmp_path / storage.TENSORS).write_bytes(b"no")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_statistics(tmp_path)


# --- where to -----------------------------------------------------------------------------------


def test_a_run_is_not_overwritten_unless_asked(tmp_path: Path) -> None:
    first, second = made(), explanation_set(explanation(distribution(RICH, 3)))
    first.save(tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(OutputError, match=r"already holds a run; pass overwrite \(--overwrite\)"):
        second.save(tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    second.save(tmp_path, overwrite=True)
    assert_same(gi.load(tmp_path), second)


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    made().save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_folders_are_made(tmp_path: Path) -> None:
    made().save(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / "run.json").is_file()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(OutputError, match="file is a file; give a folder"):
        made().save(place)


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def access(path: Path, mode: int) -> bool:
        asked.append(path)
        return False

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(OutputError, match="cannot be written; choose another place"):
        check_folder(tmp_path / "deep" / "run", overwrite=False)
    assert asked == [tmp_path]
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize("failing", ["replace", "fdopen"])
def test_a_failed_write_leaves_nothing_behind(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").write_bytes(b"old")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    for name in ("old", "new"):
        with pytest.raises(OutputError, match=r"cannot write .*: No space left on device"):
            write_atomically(tmp_path / name, b"content")
    assert [p.name for p in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"


def test_an_interrupted_write_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", b"content")
    assert list(tmp_path.iterdir()) == []


def test_the_index_is_written_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, order = os.replace, []

    def note(source: str, target: Path) -> None:
        order.append(Path(target).name)
        real(source, target)

    monkeypatch.setattr(os, "replace", note)
    save_run(made(), tmp_path)
    assert order == ["latents.safetensors", "run.json"]


# --- what cannot be read ------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return made().save(tmp_path / "run")


def assert_refused(folder: Path, message: str) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        load_run(folder)
    assert "\n" not in str(caught.value)


def edit(run: Path, **fields: Any) -> None:
    index = json.loads((run / "run.json").read_text())
    index.update(fields)
    index = {key: value for key, value in index.items() if value is not None}
    (run / "run.json").write_text(json.dumps(index))


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    assert_refused(tmp_path, r"holds no run: there is no run\.json in it")
    assert_refused(tmp_path / "nowhere", r"holds no run: there is no run\.json in it")


@pytest.mark.parametrize("name", ["run.json", "latents.safetensors"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.98])
def test_a_truncated_file(run: Path, name: str, share: float) -> None:
    content = (run / name).read_bytes()
    (run / name).write_bytes(content[: int(len(content) * share)])
    assert_refused(run, "run in .* cannot be read")


@pytest.mark.parametrize("name", ["run.json", "latents.safetensors"])
def test_a_file_of_something_else(run: Path, name: str) -> None:
    (run / name).write_bytes(b"\x80\x04\x95 pickled or what")
    assert_refused(run, "run in .* cannot be read")


def test_a_missing_file_of_latents(run: Path) -> None:
    (run / "latents.safetensors").unlink()
    assert_refused(run, "run in .* cannot be read")


@pytest.mark.parametrize("content", ['{"kind": "something else"}', "[1, 2]", "3", "null"])
def test_a_foreign_index(run: Path, content: str) -> None:
    (run / "run.json").write_text(content)
    assert_refused(run, r"run\.json was not written by gnninterpreter")


def test_a_foreign_index_is_named_as_such_even_without_latents(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"epochs": 3}')
    assert_refused(tmp_path, r"run\.json was not written by gnninterpreter")


@pytest.mark.parametrize("schema", [storage.SCHEMA + 1, "2", -1])
def test_a_newer_schema(run: Path, schema: object) -> None:
    edit(run, schema=schema)
    assert_refused(
        run, f"has schema {schema}, this version reads {storage.SCHEMA}; use the version"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"spec": None},
        {"spec": {"nodes": [], "edges": [], "class_names": [], "surprise": 1}},
        {"spec": {"nodes": [{"kind": "fancy"}], "edges": [], "class_names": ["a"]}},
        {"spec": "plain"},
        {"classes": None},
        {"classes": [{"class": "inert"}]},
        {"classes": "none"},
        {"model": None},
        {"inferred": None},
        {"metadata": None},
    ],
    ids=lambda fields: "-".join(f"{k}={str(v)[:12]}" for k, v in fields.items()),
)
def test_a_damaged_index(run: Path, fields: dict[str, Any]) -> None:
    edit(run, **fields)
    assert_refused(run, "run in .* is damaged .*; make it again")


def test_latents_that_belong_to_another_run(run: Path, tmp_path: Path) -> None:
    small = explanation_set(explanation(graph(3, [(0, 1)], MOLECULES)))
    other = small.save(tmp_path / "other")
    (run / "latents.safetensors").write_bytes((other / "latents.safetensors").read_bytes())
    assert_refused(run, "run in .* is damaged .*; make it again")
