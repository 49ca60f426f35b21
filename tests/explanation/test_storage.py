"""Run folders: what is saved comes back equal, and what is damaged is named in one sentence."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save
from torch_geometric.data import Data

import gnninterpreter as gi
from gnninterpreter.errors import CheckpointError, OutputError
from gnninterpreter.explanation import (
    Curve,
    DrawnSampler,
    Explanation,
    ExplanationSet,
    load_run,
    save_run,
    storage,
)
from gnninterpreter.explanation.storage import check_folder
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.isomorphism import graph_key
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec
from gnninterpreter.typicality import Typicality
from tests.explanation.made import MOLECULES, explanation, explanation_set
from tests.tiny import RICH, SPECS, distribution, graph


def made(spec: GraphSpec = MOLECULES, dtype: torch.dtype = torch.float32) -> ExplanationSet:
    return explanation_set(
        explanation(distribution(spec, 5, restarts=3, seed=1, dtype=dtype), 0, choice=2),
        explanation(distribution(spec, 4, restarts=2, seed=2, dtype=dtype), 1, [0.9, 0.2]),
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return made().save(tmp_path / "run")


def tensors_of(folder: Path) -> Path:
    """The file of tensors that the index names."""
    digest = json.loads((folder / "run.json").read_text())["tensors"]
    return folder / f"tensors-{digest[:16]}.safetensors"


def edit(run: Path, **fields: Any) -> None:
    """Change fields of the index; None removes one."""
    index = json.loads((run / "run.json").read_text())
    index.update(fields)
    index = {key: value for key, value in index.items() if value is not None}
    (run / "run.json").write_text(json.dumps(index))


def change(run: Path, path: str, value: Any) -> None:
    """Change one value of the first class, by its path."""
    index = json.loads((run / "run.json").read_text())
    inside = index["classes"][0]
    *parts, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parts:
        inside = inside[part]
    inside[last] = value
    (run / "run.json").write_text(json.dumps(index))


def rewrite(folder: Path, change: dict[str, Any]) -> None:
    """Change the tensors of a run, and let the index name them."""
    tensors = {**load_file(tensors_of(folder)), **change}
    content = save({name: part for name, part in tensors.items() if part is not None})
    edit(folder, tensors=hashlib.sha256(content).hexdigest())
    tensors_of(folder).write_bytes(content)


def assert_refused(folder: Path, message: str) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        load_run(folder)
    assert "\n" not in str(caught.value)


# --- there and back -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", SPECS)
def test_what_is_saved_comes_back_equal(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    before = made(SPECS[name], dtype)
    assert before.save(tmp_path / "run") == tmp_path / "run"
    after = gi.load(tmp_path / "run")
    assert after == before
    assert after.summary() == before.summary()
    for name in before:
        assert after[name].best.x.dtype == before[name].best.x.dtype
        for a, b in zip(after[name].sample(20), before[name].sample(20), strict=True):
            assert torch.equal(a.x, b.x)
            assert torch.equal(a.edge_index, b.edge_index)


def test_a_run_is_two_files_without_any_pickle(tmp_path: Path) -> None:
    made().save(tmp_path)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "run.json", tensors_of(tmp_path)]
    index = json.loads((tmp_path / "run.json").read_text())
    assert index["schema"] == storage.SCHEMA
    assert index["kind"] == "gnninterpreter run"
    assert index["tensors"] == hashlib.sha256(tensors_of(tmp_path).read_bytes()).hexdigest()


def test_what_is_not_a_number_is_null_in_the_file_and_comes_back(tmp_path: Path) -> None:
    result = made()
    result[0].history.append(Curve("budget", [20], [[math.nan, math.inf, 1.0]]))
    result[0].max_edges = math.inf
    result.metadata["error"] = math.nan

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    result.save(tmp_path)
    json.loads((tmp_path / "run.json").read_text(), parse_constant=refuse)
    again = gi.load(tmp_path)
    assert again.metadata["error"] is None
    assert again[0].max_edges == math.inf
    first, second, third = again[0].history[-1].values[0]
    assert math.isnan(first)
    assert math.isnan(second)
    assert third == 1.0


def test_every_field_of_an_explanation_is_stored() -> None:
    names = {field.name for field in fields(Explanation)}
    assert names == {*storage.FIELDS, *storage.PARTS, "spec", "target", "sampler"}


def test_graphs_of_a_baseline_come_back_and_samples_are_taken_from_them(tmp_path: Path) -> None:
    drawn = random_graphs(RICH, 30, 5, torch.Generator().manual_seed(0), absent=2)
    # Features of pairs that no edge joins are not stored.
    assert drawn.edges is not None
    drawn = replace(drawn, edges=drawn.edges * drawn.weight.unsqueeze(-1))
    one = explanation(distribution(RICH, 5, restarts=2, dtype=torch.float32))
    one.sampler = DrawnSampler(drawn, (4, 7), lambda n, seed: drawn[:n])
    explanation_set(one).save(tmp_path)
    found = gi.load(tmp_path)[0]
    assert found.sampler == one.sampler
    assert found.distribution is None
    assert found.notes == [*one.notes, storage.LOADED]
    known = {graph_key(data, RICH) for data in drawn.to_data_list()}
    sampled = {graph_key(data, RICH) for data in found.sample(50)}
    assert sampled <= known
    assert len(sampled) > 5
    # Saved once more it says so once only.
    explanation_set(found).save(tmp_path, overwrite=True)
    assert gi.load(tmp_path)[0] == found


# --- class statistics ---------------------------------------------------------------------------


def statistics(seed: int = 0) -> ClassStatistics:
    generator = torch.Generator().manual_seed(seed)
    shapes = {"mean_embedding": (2, 4), "similarity_quantiles": (2, 101)}
    figures: dict[str, Any] = {
        part.name: torch.rand(shapes.get(part.name, (2,)), generator=generator)
        for part in fields(ClassStatistics)
        if part.name != "typicality"
    }
    return ClassStatistics(**figures)


def with_real_graphs() -> ClassStatistics:
    """Statistics that keep what real molecules of the first class look like."""
    real = []
    for count in range(12):
        size = 4 + count % 6
        ring = torch.arange(size)
        ends = torch.stack([ring, (ring + 1) % size])
        atoms = torch.eye(MOLECULES.node_width)[(ring + count) % MOLECULES.node_width]
        bonds = torch.eye(MOLECULES.edge_width)[ring % MOLECULES.edge_width]
        edge_index = torch.cat([ends, ends.flip(0)], 1)
        real.append(Data(x=atoms, edge_index=edge_index, edge_attr=torch.cat([bonds, bonds])))

    def certain(some: DenseGraphs) -> torch.Tensor:
        return torch.ones(len(some), dtype=torch.bool)

    known = Typicality.of(real, MOLECULES, 8, certain)
    assert known is not None
    return replace(statistics(), typicality=(known, None))


@pytest.mark.parametrize("known", [statistics, with_real_graphs])
def test_statistics_come_back_equal(tmp_path: Path, known: Callable[[], ClassStatistics]) -> None:
    result = replace(made(), statistics=known())
    save_run(result, tmp_path)
    assert gi.load(tmp_path) == result
    assert gi.load(tmp_path).statistics == result.statistics


def test_statistics_that_the_result_carries_are_saved(tmp_path: Path) -> None:
    result = replace(made(), statistics=statistics(1))
    result.save(tmp_path)
    assert gi.load(tmp_path).statistics == statistics(1)


def test_runs_without_statistics(tmp_path: Path) -> None:
    made().save(tmp_path)
    assert gi.load(tmp_path).statistics is None


def test_a_class_may_be_called_statistics(tmp_path: Path) -> None:
    result = made(replace(MOLECULES, class_names=("statistics", "0")))
    result.save(tmp_path)
    assert gi.load(tmp_path).statistics is None
    assert gi.load(tmp_path) == result


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"statistics.count": None}, "lack count"),
        ({"statistics.count": torch.ones(7)}, "about different numbers of classes"),
    ],
)
def test_damaged_statistics(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    save_run(replace(made(), statistics=statistics()), tmp_path)
    rewrite(tmp_path, change)
    assert_refused(tmp_path, said)


@pytest.mark.parametrize(
    "change",
    [
        {"bank.quantiles": None},
        {"bank.nodes": torch.ones(3, 1)},
        {"bank.quantiles": torch.ones(2, 101)},
        {"exemplars.weight": None},
        {"exemplars.weight": torch.ones(1, dtype=torch.uint8)},
        {"exemplars.nodes": torch.ones(2, 3, 1)},
        {"exemplars.shape": torch.tensor([10**6, 10**6, 10**6])},
        {"exemplars.edges": torch.ones(1, 1)},
        {"exemplars.percentile": torch.ones(1)},
    ],
    ids=lambda change: f"{next(iter(change))} {getattr(next(iter(change.values())), 'shape', '')}",
)
def test_damaged_real_graphs(tmp_path: Path, change: dict[str, Any]) -> None:
    save_run(replace(made(), statistics=with_real_graphs()), tmp_path)
    rewrite(tmp_path, {f"statistics.typicality.0.{name}": v for name, v in change.items()})
    assert_refused(tmp_path, r"store (it|them) again")


# --- where to -----------------------------------------------------------------------------------


def test_a_run_is_not_replaced_unless_told_to(tmp_path: Path) -> None:
    made().save(tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    second = explanation_set(explanation(graph(4, [(0, 1)], MOLECULES)))
    with pytest.raises(OutputError, match=r"already holds a run; pass overwrite \(--overwrite\)"):
        second.save(tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    second.save(tmp_path, overwrite=True)
    assert gi.load(tmp_path) == second


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


# --- one run or the other -----------------------------------------------------------------------


class Killed(BaseException):
    """Stands for the end of the process: nothing that follows it runs."""


def crash_at(monkeypatch: pytest.MonkeyPatch, call: int, *, before: bool) -> list[str]:
    """Kill the process at one of its renames and removals, before it is done or just after."""
    calls: list[str] = []

    def dying(name: str, real: Callable[..., None]) -> Callable[..., None]:
        def act(*args: Any, **kwargs: Any) -> None:
            calls.append(name)
            if len(calls) <= call or (not before and len(calls) == call + 1):
                real(*args, **kwargs)
            if len(calls) > call:
                raise Killed

        return act

    for name in ("replace", "unlink"):
        monkeypatch.setattr(os, name, dying(name, getattr(os, name)))
    return calls


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("call", range(6))
def test_killed_at_any_rename_the_folder_holds_one_run_or_the_other(
    call: int, before: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have the same shapes, so that mixing them up would go unnoticed."""
    old = explanation_set(explanation(distribution(MOLECULES, 5, seed=1, dtype=torch.float32)))
    new = explanation_set(explanation(distribution(MOLECULES, 5, seed=2, dtype=torch.float32)))
    new["inert"].notes.append("the new one")
    old.save(tmp_path)
    with monkeypatch.context() as patch:
        calls = crash_at(patch, call, before=before)
        with contextlib.suppress(Killed):
            new.save(tmp_path, overwrite=True)
    renamed = calls[: call + (not before)].count("replace")
    assert gi.load(tmp_path) == (new if renamed >= 2 else old)
    # The next one cleans up what was left behind.
    new.save(tmp_path, overwrite=True)
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".json", ".safetensors"]
    assert gi.load(tmp_path) == new


def test_the_index_is_renamed_last_and_old_tensors_go_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made().save(tmp_path)
    (tmp_path / "latents.safetensors").write_text("of an older version")
    real, order = os.replace, []

    def note(source: str, target: Path) -> None:
        order.append(Path(target).name)
        real(source, target)

    monkeypatch.setattr(os, "replace", note)
    second = explanation_set(explanation(graph(4, [(0, 1)], MOLECULES)))
    save_run(second, tmp_path, overwrite=True)
    assert order == [tensors_of(tmp_path).name, "run.json"]
    assert {p.name for p in tmp_path.iterdir()} == set(order)


def test_a_run_that_is_replaced_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index was read, then the tensors it names were gone: the new run is read instead."""
    made().save(tmp_path)
    new = explanation_set(explanation(graph(4, [(0, 1)], MOLECULES)))
    real, asked = storage.read_file, []

    def read(path: Path) -> bytes:
        asked.append(path)
        if len(asked) == 1:
            new.save(tmp_path, overwrite=True)
        return real(path)

    monkeypatch.setattr(storage, "read_file", read)
    assert gi.load(tmp_path) == new
    assert len(asked) == 2


def test_tensors_do_not_depend_on_the_file_once_they_are_read(tmp_path: Path) -> None:
    made().save(tmp_path)
    found = gi.load(tmp_path)
    tensors_of(tmp_path).write_bytes(bytes(tensors_of(tmp_path).stat().st_size))
    assert found == made()


# --- what cannot be read ------------------------------------------------------------------------


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    assert_refused(tmp_path, r"holds no run: there is no run\.json in it")
    assert_refused(tmp_path / "nowhere", r"holds no run: there is no run\.json in it")
    (tmp_path / "file").touch()
    assert_refused(tmp_path / "file", "is a file; give the folder of a saved run")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.98])
@pytest.mark.parametrize("index", [True, False], ids=["index", "tensors"])
def test_a_truncated_file(run: Path, index: bool, share: float) -> None:
    place = run / "run.json" if index else tensors_of(run)
    content = place.read_bytes()
    place.write_bytes(content[: int(len(content) * share)])
    assert_refused(run, r"run in .* cannot be read: .*; make it again")


@pytest.mark.parametrize("index", [True, False], ids=["index", "tensors"])
def test_a_file_of_something_else(run: Path, index: bool) -> None:
    place = run / "run.json" if index else tensors_of(run)
    place.write_bytes(b"\x80\x04\x95 pickled or what")
    assert_refused(run, "run in .* cannot be read")


@pytest.mark.parametrize("place", [-1, -9, 12])
def test_a_flipped_bit(run: Path, place: int) -> None:
    content = bytearray(tensors_of(run).read_bytes())
    content[place] ^= 1
    tensors_of(run).write_bytes(content)
    assert_refused(run, "its tensors are not those that were written; make it again")


def test_missing_tensors(run: Path) -> None:
    tensors_of(run).unlink()
    assert_refused(run, r"tensors-[0-9a-f]{16}\.safetensors is missing; make it again")


@pytest.mark.parametrize("digest", [None, 3, "../../etc", "A" * 64])
def test_an_index_that_names_no_tensors(run: Path, digest: object) -> None:
    edit(run, tensors=digest)
    assert_refused(run, "it names no tensors; make it again")


def test_a_folder_in_place_of_the_index(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    assert_refused(tmp_path, r"run\.json is no regular file")


@pytest.mark.parametrize("content", ['{"kind": "something else"}', "[1, 2]", "3", "null"])
def test_a_foreign_index(run: Path, content: str) -> None:
    (run / "run.json").write_text(content)
    assert_refused(run, r"run\.json was not written by gnninterpreter")


def test_a_foreign_index_is_named_as_such_even_without_tensors(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"epochs": 3}')
    assert_refused(tmp_path, r"run\.json was not written by gnninterpreter")


@pytest.mark.parametrize("schema", [storage.SCHEMA + 1, 2, "3", -1])
def test_another_schema(run: Path, schema: object) -> None:
    edit(run, schema=schema)
    said = f"has schema {schema!r}, this version reads {storage.SCHEMA}; use the version"
    assert_refused(run, said)


@pytest.mark.parametrize(
    "fields",
    [
        {"spec": None},
        {"spec": {"nodes": [], "edges": [], "class_names": [], "surprise": 1}},
        {"spec": {"nodes": [{"kind": "fancy"}], "edges": [], "class_names": ["a"]}},
        {"spec": {"nodes": [], "edges": []}},
        {"spec": "plain"},
        {"classes": None},
        {"classes": [{"class": "inert"}]},
        {"classes": "none"},
        {"model": None},
        {"inferred": None},
        {"metadata": None},
        {"metadata": [1]},
        {"metadata": {"versions": 7.0}},
        {"metadata": {"task": ["single"]}},
    ],
    ids=lambda fields: "-".join(f"{k}={str(v)[:12]}" for k, v in fields.items()),
)
def test_a_damaged_index(run: Path, fields: dict[str, Any]) -> None:
    edit(run, **fields)
    assert_refused(run, "run in .* is damaged: .*; make it again")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("probability.mean", "x", r"probability\.mean must be a number from 0 to 1 \(got 'x'\)"),
        ("probability.mean", 7.0, r"probability\.mean must be a number from 0 to 1 \(got 7\.0\)"),
        ("probability.mean", None, r"probability\.mean must be a number"),
        ("probability.mean", True, r"probability\.mean must be a number"),
        ("probability.n", -1000, r"probability\.n must be a whole number of at least 1"),
        ("probability.n", 2.5, r"probability\.n must be a whole number"),
        ("probability", {"mean": 0.5}, r"probability has no field 'std'"),
        ("mode_probability", -0.2, "mode_probability must be a number from 0 to 1"),
        ("class_probabilities", [0.5], "class_probabilities must have 2 entries"),
        ("class_probabilities.1", 3.0, r"class_probabilities\[1\] must be a number from 0 to 1"),
        ("choice", 3, "choice must be a whole number from 0 to 2"),
        ("choice", -1, "choice must be a whole number of at least 0"),
        ("restarts", [], "restarts must have 3 entries"),
        ("restarts.0.nodes", -4, r"restarts\[0\]\.nodes must be a whole number of at least 0"),
        ("restarts.0.feasible", 1, r"restarts\[0\]\.feasible must be true or false"),
        ("restarts.0.similarity", 2.0, r"restarts\[0\]\.similarity must be a number from -1 to 1"),
        ("similarity_percentile", 101, "similarity_percentile must be a number from 0 to 100"),
        ("max_nodes", 0, "max_nodes must be a whole number of at least 1"),
        ("seconds", -1.0, "seconds must be a number of at least 0"),
        ("recipe", 4, "recipe must be a text"),
        ("notes", [3], r"notes\[0\] must be a text"),
        ("notes", "text", "notes must be a list"),
        ("history.0.values", [[0.5]], r"history\.probability must have 2 entries"),
        ("history.0.values.1", [0.5], r"history\.probability\[1\] must have 3 entries"),
        ("target", {"kind": "fancy"}, "no target of kind 'fancy'"),
        ("evidence", {"checks": []}, "evidence must be a list"),
        ("evidence", [{"name": "certain"}], r"evidence\[0\] has no field 'passed'"),
        ("sampler", None, "no sampler of kind None"),
        ("sampler.weights", [1.0], "the tensor '0' has an unexpected shape or type"),
        ("sampler.weights", [0.0, 0.0, 0.0], "weights must be at least 0, and one above it"),
        ("sampler.weights.0", -1.0, r"sampler\.weights\[0\] must be a number of at least 0"),
        ("sampler.candidates", 10**9, r"sampler\.candidates must be a whole number from 2 to"),
    ],
)
def test_every_field_has_a_type_and_bounds(run: Path, path: str, value: Any, said: str) -> None:
    change(run, path, value)
    assert_refused(run, f"the run in .* is damaged: .*{said}.*; make it again")


@pytest.mark.parametrize("word", ["NaN", "Infinity"])
def test_what_is_no_json_number(run: Path, word: str) -> None:
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(text.replace('"seconds": 1.25', f'"seconds": {word}'))
    assert_refused(run, f"{word} is no JSON number")


@pytest.mark.parametrize("depth", [100, 990, 200_000])
def test_what_is_nested_too_deeply(run: Path, depth: int) -> None:
    index = (run / "run.json").read_text().rstrip().removesuffix("}")
    nested = "[" * depth + "]" * depth
    (run / "run.json").write_text(f'{index}, "more": {nested}}}')
    assert_refused(run, r"run\.json is nested too deeply")


def test_sizes_are_looked_at_before_anything_of_that_size_is_made(run: Path) -> None:
    spec = json.loads((run / "run.json").read_text())["spec"]
    spec["nodes"][0] = {"kind": "categorical", "size": 10**12}
    edit(run, spec=spec)
    assert_refused(run, r"size of Categorical must be at most 100000")


def test_tensors_that_belong_to_another_run(run: Path, tmp_path: Path) -> None:
    small = explanation_set(explanation(graph(3, [(0, 1)], MOLECULES)))
    other = small.save(tmp_path / "other")
    edit(run, tensors=json.loads((other / "run.json").read_text())["tensors"])
    tensors_of(other).rename(run / tensors_of(other).name)
    assert_refused(run, "run in .* is damaged: .*; make it again")


def test_what_is_added_later_is_passed_over(run: Path) -> None:
    change(run, "verdict", {"word": "trustworthy"})
    edit(run, news=[1, 2])
    assert gi.load(run) == made()
